import { expect, it } from 'vitest';
import { ObjectStore } from '@berth/kube/cache/object-store';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ReadYourWritesCache } from '../../src/work/agent-state.ts';

const work = (resourceVersion: string): KubeObject => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { namespace: 'cluster1', name: 'web', uid: 'uid', resourceVersion },
});
const KEY = 'cluster1/web';

function watched(...shown: readonly KubeObject[]) {
  const store = new ObjectStore();
  const position: { history: undefined; resourceVersion: string | undefined } = {
    history: undefined,
    resourceVersion: '5',
  };
  for (const object of shown) store.put(object);
  return { store, position, cache: new ReadYourWritesCache({ store, position }) };
}

it('shows an own write until the watch shows it', () => {
  const { store, position, cache } = watched(work('5'));
  cache.recordWrite(KEY, work('8'));
  expect(cache.get(KEY)).toEqual(work('8'));
  store.put(work('9'));
  position.resourceVersion = '9';
  expect(cache.get(KEY)).toEqual(work('9'));
});

it('does not bring an object back that was deleted after the write', () => {
  const { position, cache } = watched();
  cache.recordWrite(KEY, work('8'));
  expect(cache.get(KEY)).toEqual(work('8'));
  // The watch has shown the object and its deletion since it was last read.
  position.resourceVersion = '9';
  expect(cache.get(KEY)).toBeUndefined();
});

it('ignores a late response to a write that the watch has shown', () => {
  const { cache } = watched(work('5'));
  cache.recordWrite(KEY, work('4'));
  expect(cache.get(KEY)).toEqual(work('5'));
});
