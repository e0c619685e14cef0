import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { RecordedCase } from './validation-case.ts';

const FILE = new URL('validation.jsonl.gz', import.meta.url);

/** What kube-apiserver 1.35.4 answered; `UPDATE_GOLDEN=1 npm run test:interop` records it again. */
export function readRecordedCases(): readonly RecordedCase[] {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as RecordedCase);
}

export function writeRecordedCases(cases: readonly RecordedCase[]): void {
  const text = cases.map((one) => `${JSON.stringify(one)}\n`).join('');
  writeFileSync(FILE, gzipSync(text, { level: 9 }));
}
