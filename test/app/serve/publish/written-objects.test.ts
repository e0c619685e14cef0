import { describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../../src/adapters/kube/object-store.ts';
import { outcomeOf, WrittenObjects } from '../../../../src/app/serve/publish/written-objects.ts';
import type { KubeObject } from '../../../../src/core/model/object-meta.ts';

const at = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n', resourceVersion },
});

describe('WrittenObjects', () => {
  it('reads its own writes while the watch lags, and what others wrote once the watch tells', () => {
    const store = new ObjectStore();
    const written = new WrittenObjects(store);
    store.put(at('1'));
    written.wrote(at('1'), at('2'));
    expect(written.get('n/a')).toEqual(at('2'));
    store.put(at('7'));
    expect(written.get('n/a')).toEqual(at('7'));
  });

  it('knows a write of its own that the watch told before the answer, and one of others', () => {
    const store = new ObjectStore();
    const written = new WrittenObjects(store);
    store.put(at('1'));
    // The watch is faster than the answer of the write.
    store.put(at('2'));
    expect(written.made('n/a', outcomeOf(at('1'), at('2')))).toBe(false);
    written.wrote(at('1'), at('2'));
    expect(written.get('n/a')).toEqual(at('2'));
    expect(written.made('n/a', outcomeOf(at('1'), at('2')))).toBe(true);
    expect(written.made('n/a', outcomeOf(at('2'), at('3')))).toBe(false);
    written.wrote(at('2'), undefined);
    expect(written.made('n/a', outcomeOf(at('2'), undefined))).toBe(true);
    for (let version = 10; version < 40; version++)
      written.wrote(at(String(version)), at(String(version + 1)));
    expect(written.made('n/a', outcomeOf(undefined, at('2')))).toBe(false);
    expect(written.made('n/a', outcomeOf(undefined, at('40')))).toBe(true);
  });

  it('remembers what it made of the objects that it wrote last, not of all that ever were', () => {
    const written = new WrittenObjects(new ObjectStore());
    const named = (name: string, version: string) => {
      const object = at(version);
      return { ...object, metadata: { ...object.metadata, name } };
    };
    for (let n = 0; n < 4_001; n++) {
      written.wrote(undefined, named(`p${n}`, '1'));
      if (n % 1_000 === 0) written.wrote(named('p1', String(n + 1)), named('p1', String(n + 2)));
    }
    expect(written.made('n/p0', '1')).toBe(false);
    expect(['n/p1', 'n/p2', 'n/p4000'].map((key) => written.made(key, '1'))).toEqual([true, true, true]);
  });

  it('takes any version for news after it was told that the hub was restored', () => {
    const store = new ObjectStore();
    const written = new WrittenObjects(store);
    store.put(at('1'));
    // The watch never shows this write.
    written.wrote(at('1'), at('2'));
    written.forgetAll();
    expect(written.get('n/a')).toEqual(at('1'));
    expect(written.isOwn('n/a', at('1'))).toBe(false);
    expect(written.made('n/a', '2')).toBe(false);
  });

  it.each([
    ['told the write', () => undefined],
    ['was faster than its answer', (store: ObjectStore) => store.put(at('2'))],
  ])(
    'takes an older version for news once the watch %s: the hub was restored from a backup',
    (_when, early) => {
      const store = new ObjectStore();
      const written = new WrittenObjects(store);
      store.put(at('1'));
      early(store);
      written.wrote(at('1'), at('2'));
      store.put(at('2'));
      expect(written.isOwn('n/a', at('2'))).toBe(true);
      store.put(at('1'));
      expect(written.isOwn('n/a', at('1'))).toBe(false);
      expect(written.get('n/a')).toEqual(at('1'));
    },
  );
});
