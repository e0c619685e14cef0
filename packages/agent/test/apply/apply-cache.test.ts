import { expect, it } from 'vitest';
import { ApplyCache } from '../../src/apply/apply-cache.ts';
import { configMap } from '../agent-harness.ts';

it('forgets the objects of manifests that left the work, and no others', () => {
  const cache = new ApplyCache();
  for (const id of ['a', 'b']) {
    cache.remember(id, 'wanted', configMap(id), { appliedAs: 'work-agent' });
    cache.leave(id, [['data', 'x']]);
    cache.noteOutcome(id, { kind: 'applied', object: undefined, wrote: true }, undefined);
  }
  cache.keepOnly(new Set(['b']));
  expect(['a', 'b'].map((id) => cache.hasEntry(id))).toEqual([false, true]);
  expect(['a', 'b'].map((id) => cache.lastManager(id))).toEqual([undefined, 'work-agent']);
  expect(['a', 'b'].map((id) => cache.lastOutcome(id)?.kind)).toEqual([undefined, 'applied']);
  expect(['a', 'b'].map((id) => cache.leave(id, []))).toEqual([[], [['data', 'x']]]);
});
