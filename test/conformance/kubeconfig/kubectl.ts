import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { KubeconfigRequestCase, RecordedStep } from './case.ts';
import { CREDENTIAL_CASES } from './credential-cases.ts';
import { PLUGIN_CASES } from './plugin-cases.ts';
import { SERVER_CASES } from './server-cases.ts';
import type { Ask } from './world.ts';

const FILE = new URL('./recorded.json', import.meta.url);

export const ALL_CASES: readonly KubeconfigRequestCase[] = [
  ...CREDENTIAL_CASES,
  ...SERVER_CASES,
  ...PLUGIN_CASES,
];

export type Recorded = Readonly<Record<string, readonly RecordedStep[]>>;

/** What kubectl did, by name of the case. */
export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded;
}

export function writeRecorded(recorded: Recorded): void {
  writeFileSync(FILE, `${JSON.stringify(recorded, null, 1)}\n`);
}

/** Asks for the version with a new kubectl each time. What it says is kept for people, without the time of day. */
export function askWith(kubectl: string, ...flags: readonly string[]): Ask {
  return (env) =>
    new Promise((resolve) => {
      const args = ['version', '--output=json', ...flags];
      const child = execFile(kubectl, args, { env }, (error, _stdout, stderr) =>
        resolve(error === null ? undefined : stderr.replace(/[EWI]\d{4} [\d:.]+ +\d+ /g, '').trim()),
      );
      child.stdin?.end();
    });
}
