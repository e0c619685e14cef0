import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder with the built programs: `$BERTH_PEERS`, else `~/.cache/berth-peers/bin`. */
export const PEERS_DIR = process.env['BERTH_PEERS'] ?? join(homedir(), '.cache/berth-peers/bin');

export function peerProgram(name: string): string {
  return join(PEERS_DIR, name);
}

/** Whether all these programs are built; prints one sentence that names the missing ones. */
export function hasPeers(...names: readonly string[]): boolean {
  const missing = names.filter((name) => !isExecutable(peerProgram(name)));
  if (missing.length > 0) console.warn(`skipped: ${missing.join(', ')} not found in the folder $BERTH_PEERS`);
  return missing.length === 0;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
