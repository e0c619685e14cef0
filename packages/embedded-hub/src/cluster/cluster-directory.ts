import { join } from 'node:path';

/** The directory of the log and snapshots of a cluster; '' is the hub. */
export function clusterDirectory(dataDir: string, name: string): string {
  return name === '' ? join(dataDir, 'hub') : join(dataDir, 'members', name);
}
