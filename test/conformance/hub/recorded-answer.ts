/* eslint-disable @typescript-eslint/no-explicit-any -- recorded answers are free-form JSON */
import { readFileSync } from 'node:fs';
import { canonicalJson } from '../../../packages/embedded-hub/src/json/json-value.ts';

/** One recorded request, and what an API server answered. */
export interface Recorded {
  readonly index: number;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
  readonly want: { readonly status: number; readonly warning?: string; readonly body: any };
}

const DROPPED = ['uid', 'resourceVersion', 'creationTimestamp', 'selfLink', 'retryAfterSeconds'];
const TIMES = ['time', 'deletionTimestamp'];

export function readLines(file: string): any[] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line, index) => ({ index, ...JSON.parse(line) }));
}

/** The form of the recordings: no identities, times as T; managers, causes and the parts of a listing sentence in a fixed order. */
export function normalized(value: any): any {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(normalized);
  const result: any = {};
  for (const [key, below] of Object.entries<any>(value)) {
    if (DROPPED.includes(key)) continue;
    if (TIMES.includes(key)) result[key] = 'T';
    else if (key === 'managedFields') result[key] = sorted(below.map(normalized));
    else if (key === 'causes') result[key] = sorted(below);
    else if (key === 'message' && typeof below === 'string') result[key] = sentence(below);
    else result[key] = normalized(below);
  }
  return result;
}

/** Conflicts are on lines, violations between brackets: neither has a fixed order. */
function sentence(message: string): string {
  const list = /^(.* is invalid: )\[(.*)\]$/s.exec(message);
  if (list === null) return message.split('\n').sort().join('\n');
  return (list[1] ?? '') + (list[2] ?? '').split(', ').sort().join(', ');
}

function sorted(list: any[]): any[] {
  return [...list]
    .map((one) => [canonicalJson(one), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
}
