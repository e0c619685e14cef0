import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectStore, SortedView } from '../../src/cache/object-store.ts';
import type { KubeObject } from '../../src/model/object-meta.ts';

const objectOf = (key: string, version: number): KubeObject => {
  const [namespace, name = ''] = key.split('/');
  const metadata = { namespace, name, uid: key, resourceVersion: String(version) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
};
const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** More keys than are put into their places one by one. */
const key = fc.integer({ min: 0, max: 99 }).map((n) => `${n % 3}/${n}`);

describe('SortedView', () => {
  it('lists what the store holds, in the order of the keys, and leaves earlier lists as they are', () => {
    const step = fc.record({ gone: fc.array(key), put: fc.array(key, { maxLength: 120 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const store = new ObjectStore();
        const view = new SortedView(store, (object) => object);
        let version = 0;
        const handedOut: (readonly [readonly KubeObject[], string])[] = [];
        for (const { gone, put } of steps) {
          for (const one of gone) store.remove(one);
          for (const one of put) store.put(objectOf(one, ++version));
          const list = view.list();
          const wanted = store.list().toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
          expect(list.map((one) => one)).toEqual(wanted);
          expect(list.every((one) => one === store.get(keyOf(one)))).toBe(true);
          handedOut.push([list, JSON.stringify(list)]);
        }
        for (const [list, text] of handedOut) expect(JSON.stringify(list)).toBe(text);
      }),
    );
  });

  it('is the same list while nothing changes, and reads only what changed', () => {
    const store = new ObjectStore();
    for (let n = 0; n < 500; n++) store.put(objectOf(`a/${n}`, 1));
    let reads = 0;
    const view = new SortedView(store, (object) => [++reads, object.metadata.resourceVersion]);
    const first = view.list();
    expect([first.length, reads]).toEqual([500, 500]);
    expect(view.list()).toBe(first);
    store.put(objectOf('a/7', 2));
    const second = view.list();
    expect(reads).toBe(501);
    expect(second.filter((one, at) => one !== first[at])).toEqual([[501, '2']]);
  });
});
