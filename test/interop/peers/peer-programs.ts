import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The folder with the built programs: `$BERTH_PEERS`, else `~/.cache/berth-peers/bin`. */
export const PEERS_DIR = process.env['BERTH_PEERS'] ?? join(homedir(), '.cache/berth-peers/bin');

/** Where the program is; what the system has (redis) is found as a shell finds it. */
export function peerProgram(name: string): string {
  const folders = [PEERS_DIR, ...(process.env['PATH'] ?? '').split(delimiter)];
  const paths = folders.map((folder) => join(folder, name));
  return paths.find(isExecutable) ?? join(PEERS_DIR, name);
}

/** Whether all these programs are built; prints one sentence that names the missing ones. */
export function hasPeers(...names: readonly string[]): boolean {
  const missing = names.filter((name) => !isExecutable(peerProgram(name)));
  if (missing.length > 0)
    console.warn(
      `skipped: ${missing.join(', ')} found neither in the folder $BERTH_PEERS nor on the path; test/interop/peers/build.sh builds what is of Go`,
    );
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
