import { describe, expect, it } from 'vitest';
import { type HandoverInput, planHandover } from '../../../../src/core/publish/judge/decide-publication.ts';

const decided = (...names: string[]) => names.map((clusterName) => ({ clusterName, reason: '' }));
const page = (name: string, group: { name: string; index: number } | undefined, ...clusters: string[]) => ({
  ...{ name, group },
  decisions: decided(...clusters),
});
const CANARY = { name: 'canary', index: 0 };
const REST = { name: '', index: 1 };

function input(over: Partial<HandoverInput>): HandoverInput {
  return {
    pages: [page('p1', CANARY, 'a'), page('p2', REST, 'old')],
    desired: [
      { ...CANARY, decisions: decided('a') },
      { ...REST, decisions: decided('new') },
    ],
    removed: ['old'],
    arriving: ['new'],
    isReady: () => false,
    ...{ startedAtMs: 0, deadlineMs: 1_000, nowMs: 1, aborted: false },
    ...over,
  };
}

/** `GROUP: CLUSTERS` of each group that stays published. */
function groupsOf(given: HandoverInput): readonly string[] | undefined {
  const step = planHandover(given);
  if (!('groups' in step)) return undefined;
  return step.groups.map(
    ({ name, decisions }) => `${name}: ${decisions.map(({ clusterName }) => clusterName).join(' ')}`,
  );
}

describe('a cluster that waits for its replacement', () => {
  const gone = { name: 'gone', index: 7 };
  it.each([
    { name: 'stays in its group', over: {}, want: ['canary: a', ': new old'] },
    {
      name: 'goes to the first group if its own is gone',
      over: { pages: [page('p1', CANARY, 'a'), page('p2', gone, 'old')] },
      want: ['canary: a old', ': new'],
    },
    {
      name: 'goes to the first group if only the index of its own changed',
      over: { pages: [page('p1', CANARY, 'a'), page('p2', { ...REST, index: 2 }, 'old')] },
      want: ['canary: a old', ': new'],
    },
    {
      name: 'goes to the first group if another writer edited the labels of its page',
      over: { pages: [page('p1', undefined, 'a', 'old')] },
      want: ['canary: a old', ': new'],
    },
    {
      name: 'goes to the first group after the deadline, too',
      over: { pages: [page('p2', gone, 'old')], nowMs: 1_000 },
      want: ['canary: a old', ': new'],
    },
    {
      name: 'goes to the first group when the handover is aborted, and its replacement leaves',
      over: { pages: [page('p2', gone, 'old')], aborted: true },
      want: ['canary: a old', ': '],
    },
  ])('$name', ({ over, want }) => {
    expect(groupsOf(input(over))).toEqual(want);
  });

  it('says why it is still there, if the pages have reasons', () => {
    const step = planHandover(input({ leavingReason: 'leaves later' }));
    const reasons = 'groups' in step ? step.groups.flatMap(({ decisions }) => decisions) : [];
    expect(reasons.map(({ clusterName, reason }) => [clusterName, reason])).toEqual([
      ['a', ''],
      ['new', ''],
      ['old', 'leaves later'],
    ]);
  });

  it.each([
    { name: 'every replacement is ready', over: { isReady: () => true } },
    { name: 'nothing arrives', over: { arriving: [] } },
    { name: 'what arrives is no longer wanted', over: { arriving: ['other'] } },
    { name: 'nothing leaves', over: { removed: [] } },
  ])('waits no longer when $name', ({ over }) => {
    expect(planHandover(input(over))).toEqual({ kind: 'complete' });
  });
});
