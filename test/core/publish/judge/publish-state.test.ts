import { expect, it } from 'vitest';
import { type PublishState, stateOfUid } from '../../../../src/core/publish/judge/publish-state.ts';

const state: PublishState = {
  uid: 'first',
  specHash: 's',
  publishedAtMs: 1,
  released: { token: 'used' },
  removals: [{ atMs: 1, count: 2 }],
  spent: ['used'],
  pages: 'p',
  record: 'r',
};

it('what a placement of the same name lost before does not count, and its pages are known', () => {
  expect(stateOfUid(state, 'second')).toEqual({
    ...{ uid: 'second', specHash: 's', publishedAtMs: 1, removals: [], pages: 'p', record: 'r' },
  });
});

it('the state of the placement itself counts as it is, and so does one without a UID', () => {
  const { uid: _uid, ...unnamed } = state;
  for (const same of [state, unnamed]) expect(stateOfUid(same, 'first')).toBe(same);
  expect(stateOfUid(undefined, 'first')).toBeUndefined();
});
