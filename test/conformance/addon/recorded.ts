import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parseExactJson } from '@berth/runtime/json/exact-json';

export interface Recorded<Given, Expected> {
  readonly case: Given & { readonly name: string };
  readonly expected: Expected;
}

/** @param file one of the recordings beside this file; its numbers are read as they are written */
export function readRecorded<Given, Expected>(file: string): readonly Recorded<Given, Expected>[] {
  const text = gunzipSync(readFileSync(new URL(`./${file}.jsonl.gz`, import.meta.url))).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => parseExactJson(line) as Recorded<Given, Expected>);
}
