import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { hubHashOf } from '../../../src/app/agent/agent-settings.ts';

interface Recorded {
  readonly case: { readonly name: string; readonly hubURL?: string; readonly workName?: string };
  readonly expected: { readonly hubHash: string; readonly appliedManifestWorkName: string };
}

const recorded = gunzipSync(readFileSync(new URL('./names.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)
  .filter((r) => r.case.hubURL !== undefined);

describe('the name of an AppliedManifestWork', () => {
  it.each(recorded.map((r) => ({ name: r.case.name, r })))('$name', ({ r }) => {
    const hash = hubHashOf(r.case.hubURL ?? '');
    expect(hash).toBe(r.expected.hubHash);
    expect(`${hash}-${r.case.workName}`).toBe(r.expected.appliedManifestWorkName);
  });

  it('has been recorded often enough to mean something', () => {
    expect(recorded.length).toBeGreaterThan(20);
  });
});
