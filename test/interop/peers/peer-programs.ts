import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isAvailable, programPath } from '@berth/test-kit/needed-program';

/** The folder with the built programs: `$BERTH_PEERS`, else `~/.cache/berth-peers/bin`. */
export const PEERS_DIR = process.env['BERTH_PEERS'] ?? join(homedir(), '.cache/berth-peers/bin');

/** Where the program is; what the system has (redis) is found as a shell finds it. */
export function peerProgram(name: string): string {
  return findPeer(name) ?? join(PEERS_DIR, name);
}

/**
 * Whether all these programs are built; prints a sentence for each missing one.
 * @throws Error if one is missing and `BERTH_REQUIRED` contains it
 */
export function hasPeers(...names: readonly string[]): boolean {
  return names.map((name) => isAvailable(name, problemWithPeer(name))).every((isThere) => isThere);
}

function problemWithPeer(name: string): string | undefined {
  return findPeer(name) === undefined
    ? `${name} is neither in the folder $BERTH_PEERS nor on the path; test/interop/peers/build.sh builds the programs of Go`
    : undefined;
}

function findPeer(name: string): string | undefined {
  return programPath(name, [PEERS_DIR, ...(process.env['PATH'] ?? '').split(delimiter)]);
}
