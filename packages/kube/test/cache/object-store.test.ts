import { describe, expect, it } from 'vitest';
import { ObjectStore } from '../../src/cache/object-store.ts';

const object = (resourceVersion: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'team', uid: 'u', resourceVersion },
  data: { value },
});

describe('a complete list', () => {
  const told = (list: ReturnType<typeof object>, isSameHistory: boolean): number => {
    const store = new ObjectStore();
    store.put(object('7', 'before'));
    let changes = 0;
    store.onChange(() => (changes += 1));
    store.replace([list], { isSameHistory });
    expect(store.get('team/a')?.['data']).toEqual(changes === 0 ? { value: 'before' } : list.data);
    return changes;
  };

  it.each([
    {
      name: 'is not compared where the version is known',
      list: object('7', 'other'),
      isSameHistory: true,
      want: 0,
    },
    { name: 'tells a new version', list: object('8', 'other'), isSameHistory: true, want: 1 },
    {
      name: 'of a restored server tells another content under a known version',
      list: object('7', 'other'),
      isSameHistory: false,
      want: 1,
    },
    {
      name: 'of a restored server tells nothing of an object that is the same',
      list: object('7', 'before'),
      isSameHistory: false,
      want: 0,
    },
  ])('$name', ({ list, isSameHistory, want }) => expect(told(list, isSameHistory)).toBe(want));
});
