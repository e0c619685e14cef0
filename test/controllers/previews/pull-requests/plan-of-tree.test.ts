import { expect, it } from 'vitest';
import { planOfTree } from '../../../../src/controllers/previews/pull-requests/plan-of-tree.ts';
import {
  NO_MEMORY,
  type PreviewMemory,
} from '../../../../src/controllers/previews/pull-requests/preview-memory.ts';

const expected = [
  { placement: 'team-a/web', before: ['c1'], after: ['c2'], heldToken: undefined, token: 'd'.repeat(12) },
];
const planned: PreviewMemory = { ...NO_MEMORY, head: 'a'.repeat(40), tree: 'b'.repeat(40), expected };
const find = (memories: Readonly<Record<string, PreviewMemory>>, tree = 'b'.repeat(40)) =>
  planOfTree({ keys: () => Object.keys(memories), get: (key: string) => memories[key] }, tree);

it('is the plan whose merge leaves the same files', () => {
  expect(find({ 7: { ...planned, tree: 'c'.repeat(40) }, 8: planned })).toEqual(
    new Map([['team-a/web', ['d'.repeat(12)]]]),
  );
});

it.each<[string, Readonly<Record<string, PreviewMemory>>]>([
  ['of other files', { 7: { ...planned, tree: 'c'.repeat(40) } }],
  ['without a plan', { 7: { ...planned, head: '' } }],
  ['without files', { 7: { ...planned, tree: undefined } }],
])('is no plan %s', (_name, memories) => {
  expect(find(memories)).toBeUndefined();
});
