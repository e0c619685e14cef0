/* eslint-disable @typescript-eslint/no-explicit-any -- recorded answers are free-form JSON */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/hub/json/canonical-json.ts';
import { PipelineStore } from './pipeline-store.ts';

const folder = new URL('../../conformance/hub/', import.meta.url);
const lines = (file: string): any[] =>
  readFileSync(new URL(file, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const DROPPED = ['uid', 'resourceVersion', 'creationTimestamp', 'selfLink'];

/** The form of the recordings: no identities, times as T, managers and causes in a fixed order. */
function normalized(value: any): any {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(normalized);
  const result: any = {};
  for (const [key, below] of Object.entries<any>(value)) {
    if (DROPPED.includes(key)) continue;
    if (key === 'time') result[key] = 'T';
    else if (key === 'managedFields') result[key] = sorted(below.map(normalized));
    else if (key === 'causes') result[key] = sorted(below);
    else if (key === 'message' && typeof below === 'string')
      result[key] = below.split('\n').sort().join('\n');
    else result[key] = normalized(below);
  }
  return result;
}

function sorted(list: any[]): any[] {
  return [...list]
    .map((one) => [canonicalJson(one), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
}

describe('random histories of apply, recorded from an API server', () => {
  const [first, ...recorded] = lines('ssa-random.jsonl');
  const store = new PipelineStore();
  for (const crd of first.setup) store.install(crd);

  it.each(recorded.map((one, index) => ({ ...one, index })))(
    '$index $name $path',
    ({ method, path, contentType, body, want }) => {
      const answer = store.send(method, path, body, contentType);
      if (want.status === 500) {
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.body['message']).toBe(want.body.message);
        return;
      }
      expect({ status: answer.status, body: normalized(answer.body) }).toEqual({
        status: want.status,
        body: normalized(want.body),
      });
    },
  );
});
