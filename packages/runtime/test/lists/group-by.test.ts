import { expect, it } from 'vitest';
import { groupBy } from '../../src/lists/group-by.ts';

it.each([
  { name: 'no items', items: [], want: [] },
  { name: 'one group', items: ['a1', 'a2'], want: [['a', ['a1', 'a2']]] },
  {
    name: 'groups in the order of their first items, items in their order',
    items: ['b1', 'a1', 'b2'],
    want: [
      ['b', ['b1', 'b2']],
      ['a', ['a1']],
    ],
  },
])('groups $name', ({ items, want }) => {
  expect([...groupBy<string, string>(items, (item) => item.charAt(0))]).toEqual(want);
});
