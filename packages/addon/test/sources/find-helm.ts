import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isAvailable, programPath } from '@berth/test-kit/needed-program';

/** The path of helm, on the path or beside the peers; undefined, after a sentence, if it is not there: the test is to be skipped. */
export function findHelm(): string | undefined {
  const peers = process.env['BERTH_PEERS'] ?? join(homedir(), '.cache/berth-peers/bin');
  const program = programPath('helm', [...(process.env['PATH'] ?? '').split(delimiter), peers]);
  isAvailable('helm', program === undefined ? 'there is no helm on this machine' : undefined);
  return program;
}
