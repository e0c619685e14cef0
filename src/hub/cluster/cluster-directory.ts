import { join } from 'node:path';

/** Where the log and snapshots of a cluster lie; '' is the hub. */
export function clusterDirectory(dataDir: string, name: string): string {
  return name === '' ? join(dataDir, 'hub') : join(dataDir, 'members', name);
}
