import { describe, expect, it } from 'vitest';
import { LastLists, oncePerList } from '../../src/lists/once-per-list.ts';

describe('what is computed of lists', () => {
  it('is computed once of the same list, and again of an equal one', () => {
    const computed: (readonly number[])[] = [];
    const sum = oncePerList((list: readonly number[]) => {
      computed.push(list);
      return list.length === 0 ? undefined : list.reduce((total, one) => total + one, 0);
    });
    const [list, none]: readonly [readonly number[], readonly number[]] = [[1, 2], []];
    expect([sum(list), sum(list), sum([1, 2]), sum(none), sum(none)]).toEqual([
      3,
      3,
      3,
      undefined,
      undefined,
    ]);
    expect(computed).toEqual([[1, 2], [1, 2], []]);
  });

  it.each([
    { name: 'the same objects', next: [0, 1], isSame: true },
    { name: 'another order', next: [1, 0], isSame: false },
    { name: 'more', next: [0, 1, 2], isSame: false },
    { name: 'fewer', next: [0], isSame: false },
    { name: 'another object that is equal', next: [0, 3], isSame: false },
  ])('is found again for $name: $isSame', ({ next, isSame }) => {
    const objects = [{ a: 1 }, { b: 1 }, { c: 1 }, { b: 1 }];
    const lists = new LastLists<object>();
    const first = [objects[0], objects[1]] as object[];
    expect(lists.reuse('x', first)).toBe(first);
    const second = next.map((at) => objects[at] as object);
    expect(lists.reuse('y', second)).toBe(second);
    expect(lists.reuse('x', second)).toBe(isSame ? first : second);
    expect(lists.reuse('x', [...second])).toBe(isSame ? first : second);
  });
});
