import { describe, expect, it } from 'vitest';
import {
  noteReleased,
  noteRest,
  parsePruneReleases,
  releaseHash,
} from '../../../src/core/sync/prune-releases.ts';
import { sha256 } from '@berth/runtime/sha256';

describe('what an ApplySet remembers of the releases of its deletions', () => {
  const hashes = ['ConfigMap a/x', 'ConfigMap a/y'].map((name) => releaseHash(sha256, name));

  it('is read as it was written, and is nothing where nothing was', () => {
    expect(parsePruneReleases({})).toEqual({ spent: [], objects: new Set() });
    const written = noteReleased({ spent: ['t1'], objects: new Set(['old']) }, 't2', hashes);
    expect(parsePruneReleases(written)).toEqual({ spent: ['t1', 't2'], objects: new Set(hashes) });
    expect(parsePruneReleases({ ...written, ...noteRest(hashes.slice(1)) })).toEqual({
      spent: ['t1', 't2'],
      objects: new Set(hashes.slice(1)),
    });
    expect(parsePruneReleases({ ...written, ...noteRest([]) }).objects.size).toBe(0);
  });

  it('fits into the annotations of an object, however much is released', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => releaseHash(sha256, `${at}`));
    const codes = Array.from({ length: 500 }, () => 'f'.repeat(12));
    const full = noteReleased({ spent: codes, objects: new Set() }, 'e'.repeat(12), many(20_000));
    expect(JSON.stringify(full).length).toBeLessThan(240_000);
    expect(parsePruneReleases(full).objects.size).toBe(20_000);
    expect(parsePruneReleases(full).spent.at(-1)).toBe('e'.repeat(12));
    // None rather than some of them: the code of the rest would name neither the whole nor what is left.
    expect(parsePruneReleases(noteRest(many(20_001))).objects.size).toBe(0);
  });
});
