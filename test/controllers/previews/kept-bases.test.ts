import { expect, it } from 'vitest';
import { KeptBases } from '../../../src/controllers/previews/compared-commits.ts';
import type { KeptCommit } from '../../../src/controllers/sources/reading/read-commit.ts';

const read = (commit: string): KeptCommit => ({
  ...{ commit, entries: new Map(), readings: new Map(), plain: undefined },
  selection: { paths: [], problems: [], kustomizations: new Map() },
});

it('keeps the last base of each source while this plan or the last one reads it', () => {
  const bases = new KeptBases();
  bases.keep('a', read('1'));
  bases.keep('b', read('2'));
  bases.beginPlan();
  expect(bases.of('a')?.commit).toBe('1');
  bases.keep('a', read('3'));
  bases.beginPlan();
  expect([bases.of('a')?.commit, bases.of('b')]).toEqual(['3', undefined]);
});
