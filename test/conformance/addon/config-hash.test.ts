import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { configSpecHash, hashedText } from '@berth/addon/rules/config-hash';
import { readRecorded } from './recorded.ts';

const recorded = readRecorded<
  { readonly object: KubeObject },
  { readonly specHash: string; readonly hashedText: string }
>('config-hash');

describe('the hash of a configuration', () => {
  it.each(recorded.map((entry) => ({ name: entry.case.name, entry })))('$name', ({ entry }) => {
    expect(hashedText(entry.case.object)).toBe(entry.expected.hashedText);
    expect(configSpecHash(entry.case.object)).toBe(entry.expected.specHash);
  });

  it('is held to all recorded cases', () => {
    expect(recorded).toHaveLength(200);
  });
});
