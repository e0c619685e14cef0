import { expect, it } from 'vitest';
import type { PlacementState } from '../../../../../src/core/publish/machine/state/placement-state.ts';
import { factsOf, NOW, pageOf, run, wholePass } from '../machine-fixture.ts';

/** Published on c1 and c2; then others took c2. */
const published = wholePass({ kind: 'reconcile', facts: factsOf({ clusters: ['c1', 'c2'] }) }).state;
const look = (state: PlacementState, isKnown: boolean, nowMs = NOW) => {
  const pages = [pageOf(String(500 + nowMs - NOW), ['c1'])];
  const facts = factsOf({ clusters: ['c3'], pages, remembered: state.remembered });
  return wholePass(
    { kind: 'reconcile', facts: { ...facts, wasDecidedKnowing: () => isKnown } },
    state,
    nowMs,
  );
};
const WAITS = [
  'restored web-decision-1',
  'write web-decision-1 c1,c2',
  'final-pages c1,c2',
  'end, again after 1000',
];

it('publishes what was decided where others changed nothing', () => {
  const facts = factsOf({ clusters: ['c3'], pages: [pageOf('102', ['c1', 'c2'])] });
  const { lines } = wholePass(
    { kind: 'reconcile', facts: { ...facts, wasDecidedKnowing: () => false } },
    published,
  );
  expect(lines).toContain('write web-decision-1 c3');
});

it('restores the pages and waits for a decision that knows what was published', () => {
  const first = look(published, false);
  expect(first.lines).toEqual(['decide again decisions', ...WAITS]);
  const second = look(first.state, true);
  expect(second.lines).toContain('write web-decision-1 c3');
  expect(second.state.disturbance).toBeUndefined();
});

it('does not wait forever where others never rest', () => {
  let { state } = look(published, false);
  for (let second = 1; second < 10; second++) {
    const next = look(state, false, NOW + 1_000 * second);
    expect(next.lines).toContain('decide again decisions');
    state = next.state;
  }
  expect(look(state, false, NOW + 10_000).lines).not.toContain('decide again decisions');
  // Much later: this is another disturbance.
  expect(look(state, false, NOW + 20_000).lines).toContain('decide again decisions');
});

it('forgets it with the placement', () => {
  const { state } = look(published, false);
  expect(run([{ kind: 'gone' }], state).state.disturbance).toBeUndefined();
});
