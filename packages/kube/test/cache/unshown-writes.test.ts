import { beforeEach, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../src/cache/object-store.ts';
import { UnshownWrites } from '../../src/cache/unshown-writes.ts';
import type { KubeObject } from '../../src/model/object-meta.ts';

const object = (resourceVersion: number, over: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid: 'u', resourceVersion: String(resourceVersion), ...over },
});
const successor = (resourceVersion: number): KubeObject => object(resourceVersion, { uid: 'v' });

describe('UnshownWrites', () => {
  let store: ObjectStore;
  let writes: UnshownWrites;
  /** Lists that have begun. */
  let lists: number;
  let seen: string[];
  beforeEach(() => {
    [store, lists, seen] = [new ObjectStore(), 0, []];
    writes = new UnshownWrites(store);
    store.onChange(({ after }) => seen.push(after?.metadata.resourceVersion ?? 'gone'));
  });
  const answered = (atMs = 0) => ({ atMs, listsBegun: lists });
  const put = (written: KubeObject): void => writes.put(written, answered());
  const remove = (deleted: KubeObject): void => writes.remove(deleted, answered());
  const show = (shown: KubeObject, isDeleted = false): void => writes.show(shown, isDeleted);
  const begin = (): number => ++lists;
  const list = (number: number, version: number, ...items: KubeObject[]): boolean => {
    const listed = { items, resourceVersion: String(version), number };
    const areLost = writes.areLostIn(listed);
    store.replace(writes.addTo(listed));
    return areLost;
  };
  /** Whether all writes are shown: nothing is kept of them. */
  const isEmpty = (): boolean => writes.sinceMs === undefined;

  it('are in the store at once, and are not undone by older events', () => {
    show(object(5));
    put(object(9));
    show(object(7));
    expect([seen, isEmpty()]).toEqual([['5', '9'], false]);
    show(object(9));
    expect([seen, isEmpty()]).toEqual([['5', '9'], true]);
  });

  it('give way to a newer event: the watch has overtaken the answer', () => {
    show(object(5));
    put(object(9));
    show(object(12));
    expect([seen, isEmpty()]).toEqual([['5', '9', '12'], true]);
  });

  it('keep the newest answer, in whichever order the answers arrive', () => {
    put(object(9));
    put(object(8));
    put(object(11));
    expect(seen).toEqual(['9', '11']);
    show(object(8));
    show(object(9));
    expect([seen, isEmpty()]).toEqual([['9', '11'], false]);
    show(object(11));
    expect([seen, isEmpty()]).toEqual([['9', '11'], true]);
  });

  it('follow what another writer does to the same object', () => {
    put(object(9));
    show(object(10));
    put(object(12));
    show(object(11));
    expect(seen).toEqual(['9', '10', '12']);
    show(object(13), true);
    expect([seen, isEmpty()]).toEqual([['9', '10', '12', 'gone'], true]);
  });

  it('keep a written object that replaced one whose deletion the watch shows later', () => {
    show(object(5));
    put(successor(9));
    show(object(8), true);
    expect([store.get('a')?.metadata.uid, seen]).toEqual(['v', ['5', '9']]);
    show(successor(9));
    expect([store.get('a')?.metadata.uid, isEmpty()]).toEqual(['v', true]);
  });

  describe('when the process deletes an object', () => {
    it('it is gone at once, and older events do not bring it back', () => {
      show(object(5));
      remove(object(5));
      show(object(7));
      expect([seen, isEmpty()]).toEqual([['5', 'gone'], false]);
      show(object(8), true);
      expect([seen, isEmpty()]).toEqual([['5', 'gone'], true]);
    });

    it('nothing is kept if the watch showed the deletion, or a successor, before the answer', () => {
      remove(object(5));
      show(object(5));
      show(object(6), true);
      remove(object(5));
      show(successor(7));
      remove(object(5));
      expect([seen, isEmpty()]).toEqual([['5', 'gone', '7'], true]);
    });

    it('an answer to an earlier write does not bring it back', () => {
      show(object(5));
      remove(object(5));
      put(object(7));
      expect(seen).toEqual(['5', 'gone']);
    });

    it('it may have written it just before', () => {
      put(object(9));
      remove(object(9));
      show(object(9));
      expect([seen, isEmpty()]).toEqual([['9', 'gone'], false]);
      show(object(10), true);
      expect(isEmpty()).toBe(true);
    });

    it('a successor appears, of its own or of others', () => {
      show(object(5));
      remove(object(5));
      put(successor(9));
      show(object(8), true);
      expect(store.get('a')?.metadata.uid).toBe('v');
      remove(successor(9));
      show(object(12, { uid: 'w' }));
      expect([store.get('a')?.metadata.uid, isEmpty()]).toEqual(['w', true]);
    });
  });

  describe('with a list', () => {
    it('stay if it is older than the answer and was under way', () => {
      show(object(5));
      const underWay = begin();
      put(object(9));
      expect([list(underWay, 7, object(5)), seen, isEmpty()]).toEqual([false, ['5', '9'], false]);
    });

    it('are over if it is newer', () => {
      const underWay = begin();
      put(object(9));
      expect([list(underWay, 9, object(9)), isEmpty()]).toEqual([false, true]);
      put(object(11));
      expect([list(underWay, 14, object(13)), isEmpty()]).toEqual([false, true]);
      expect(seen).toEqual(['9', '11', '13']);
    });

    it('are not lost if others have deleted the object since', () => {
      put(object(9));
      expect([list(begin(), 11), seen, isEmpty()]).toEqual([false, ['9', 'gone'], true]);
      put(object(12));
      expect([list(begin(), 15, successor(14)), isEmpty()]).toEqual([false, true]);
    });

    it('hide an object that was deleted while it was under way', () => {
      show(object(5));
      const underWay = begin();
      remove(object(5));
      expect([list(underWay, 7, object(5)), seen, isEmpty()]).toEqual([false, ['5', 'gone'], false]);
      expect([list(begin(), 8), isEmpty()]).toEqual([false, true]);
    });

    it('end with a list under way that knows of the deletion', () => {
      show(object(5));
      const underWay = begin();
      remove(object(5));
      expect([list(underWay, 9, successor(9)), isEmpty()]).toEqual([false, true]);
      expect(store.get('a')?.metadata.uid).toBe('v');
    });
  });

  describe('are lost, because the hub was restored,', () => {
    it('if it has an older version of the object in a newer list', () => {
      const underWay = begin();
      put(object(9));
      expect([list(underWay, 10, object(7)), seen, isEmpty()]).toEqual([true, ['9', '7'], true]);
    });

    it('if a list that began after the answer is older', () => {
      put(object(900));
      expect([list(begin(), 60, object(7)), seen, isEmpty()]).toEqual([true, ['900', '7'], true]);
      put(object(901));
      expect([list(begin(), 61), isEmpty()]).toEqual([true, true]);
    });

    it('if a list that began after its deletion has the object, unless a finalizer keeps it', () => {
      show(object(5));
      remove(object(5));
      expect(list(begin(), 10, object(5))).toBe(true);
      remove(object(5));
      expect(list(begin(), 11, object(11, { deletionTimestamp: 't' }))).toBe(false);
      expect([seen, isEmpty()]).toEqual([['5', 'gone', '5', 'gone', '11'], true]);
    });

    it('if the watch passes one without showing it', () => {
      put(object(9));
      writes.put(object(11, { name: 'b' }), answered());
      expect([writes.arePassedBy('9'), writes.arePassedBy('10')]).toEqual([false, true]);
      show(object(9));
      expect([writes.arePassedBy('10'), writes.arePassedBy('12')]).toEqual([false, true]);
      // The version of a deletion is unknown.
      remove(object(9));
      expect(writes.arePassedBy('11')).toBe(false);
    });
  });

  it('as a store have what was shown', () => {
    show(object(5));
    show(object(6, { name: 'b' }));
    put(object(9));
    put(object(10, { name: 'c' }));
    remove(object(6, { name: 'b' }));
    const shown = (): readonly unknown[] => writes.list().map(({ metadata }) => metadata.resourceVersion);
    expect(shown()).toEqual(['5', '6']);
    expect(['a', 'b', 'c'].map((key) => writes.get(key)?.metadata.resourceVersion)).toEqual([
      '5',
      '6',
      undefined,
    ]);
    show(object(7));
    expect([shown(), writes.get('a')?.metadata.resourceVersion]).toEqual([['7', '6'], '7']);
    expect([writes.newestVersion('7'), writes.newestVersion('12')]).toEqual(['10', '12']);
  });

  it('are at most one for each object, and none after a list', () => {
    for (let version = 1; version <= 500; version++) writes.put(object(version), answered(2 * version));
    expect(writes.list()).toEqual([]);
    expect(writes.sinceMs).toBe(1_000);
    list(begin(), 500, object(500));
    expect(isEmpty()).toBe(true);
  });
});
