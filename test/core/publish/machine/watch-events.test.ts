import { describe, expect, it } from 'vitest';
import type { PlacementEvent } from '../../../../src/core/publish/machine/state/placement-event.ts';
import { rivalPlacements } from '../../../../src/core/publish/machine/second-writer.ts';
import {
  INITIAL_STATE,
  type PlacementState,
} from '../../../../src/core/publish/machine/state/placement-state.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { factsOf, lines, NOW, pageOf, run, webPlacement, WEB } from './machine-fixture.ts';

const page = (before: KubeObject | undefined, after: KubeObject | undefined, over = {}): PlacementEvent => ({
  kind: 'page-changed',
  change: { before, after },
  isLeader: true,
  isPlacementThere: true,
  ...over,
});
const placement = (
  before: string | undefined,
  after: string | undefined,
  isInput: boolean,
): PlacementEvent => {
  const at = (resourceVersion: string | undefined) =>
    resourceVersion === undefined ? undefined : (webPlacement({ resourceVersion }) as unknown as KubeObject);
  return {
    kind: 'placement-changed',
    change: { before: at(before), after: at(after) },
    isInput: () => isInput,
  };
};
const [V1, V2, V3] = ['1', '2', '3'].map((version) => pageOf(version, ['c1']));
const create: PlacementEvent = { kind: 'reconcile', facts: factsOf({ clusters: ['c1'] }) };
const answered = (after: KubeObject | undefined): PlacementEvent => ({
  kind: 'page-written',
  after,
  seen: undefined,
});
const failed: PlacementEvent = { kind: 'failed', of: 'pages', error: new Error('x'), mayArrive: true };
const DECIDE = 'decide again decisions';

describe('what the watch shows while no pass is under way', () => {
  it.each([
    { name: 'a page that others created', event: page(undefined, V1), want: [DECIDE] },
    { name: 'a page that others changed', event: page(V1, V2), want: [DECIDE] },
    { name: 'a page that others deleted', event: page(V1, undefined), want: [DECIDE] },
    { name: 'a status that others wrote', event: placement('1', '2', false), want: [DECIDE] },
    { name: 'a changed placement', event: placement('1', '2', true), want: ['decide again inputs'] },
    { name: 'a new placement', event: placement(undefined, '1', true), want: ['decide again inputs'] },
    {
      name: 'a placement that is gone',
      event: placement('1', undefined, true),
      want: ['decide again inputs'],
    },
  ])('is reported: $name', ({ event, want }) => {
    expect(lines(run([event]).actions)).toEqual(want);
  });
});

describe('what the watch shows during the writes', () => {
  it.each([
    {
      name: 'its own write before the answer is no news',
      events: [create, page(undefined, V1), answered(V1)],
      want: { during: [], after: [] },
    },
    {
      name: 'its own write after the answer is no news',
      events: [create, answered(V1), page(undefined, V1)],
      want: { during: [], after: [] },
    },
    {
      name: 'a change by others before the answer is reported when the writes are answered',
      events: [create, page(undefined, V3), answered(V1)],
      want: { during: [], after: [DECIDE] },
    },
    {
      name: 'a change by others of its own write is reported',
      events: [create, answered(V1), page(undefined, V1), page(V1, V3)],
      want: { during: [], after: [DECIDE] },
    },
    {
      name: 'a write whose answer was lost is taken for one of others',
      events: [create, page(undefined, V1)],
      want: { during: [], after: [DECIDE] },
    },
    {
      name: 'a change of the placement by others is reported at the end',
      events: [create, placement('10', '11', false)],
      want: { during: [], after: [DECIDE] },
    },
    {
      name: 'a changed spec is reported at once',
      events: [create, placement('10', '11', true)],
      want: { during: ['decide again inputs'], after: [] },
    },
  ])('$name', ({ events, want }) => {
    let state: PlacementState = INITIAL_STATE;
    const during: string[] = [];
    for (const event of events) {
      const next = run([event], state);
      state = next.state;
      during.push(...lines(next.actions).filter((line) => line.startsWith('decide')));
    }
    expect(during).toEqual(want.during);
    const end = lines(run([failed], state).actions).filter((line) => line.startsWith('decide'));
    expect(end).toEqual(want.after);
  });

  it('keeps a bounded number of changes: the others are reported at once', () => {
    let { state } = run([create]);
    let told = 0;
    for (let version = 100; version < 1_600; version++) {
      const next = run([page(undefined, pageOf(String(version), []))], state);
      state = next.state;
      told += next.actions.length;
    }
    expect(told).toBe(500);
  });

  it('takes any version for news after the hub was restored', () => {
    const { state } = run([
      create,
      answered(V1),
      { kind: 'hub-changed', atRestore: undefined },
      page(undefined, V1),
    ]);
    expect(lines(run([failed], state).actions)).toContain(DECIDE);
  });
});

describe('a list of the pages after the watch was interrupted', () => {
  const listed = (hubVersion: string): PlacementEvent => ({
    kind: 'pages-listed',
    hubVersion,
    isLeader: true,
    isPlacementThere: true,
  });
  /** The page has version 1 since this process created it. */
  const created = run([create, answered(V1), failed]).state;

  it.each([
    { name: 'shows that others deleted a page that this process created', at: '5', want: [DECIDE], kept: 0 },
    { name: 'does not show a write that came after it', at: '0', want: [], kept: 1 },
  ])('$name', ({ at, want, kept }) => {
    const { state, actions } = run([listed(at)], created);
    expect(lines(actions)).toEqual(want);
    expect(state.pages.size).toBe(kept);
  });

  it('says nothing new of a page that the watch shows', () => {
    const shown = run([page(undefined, V1)], created).state;
    expect(run([listed('5')], shown)).toEqual({ state: shown, actions: [] });
  });
});

describe('another controller that writes the same pages', () => {
  /** Between the events of others Berth writes a page. */
  const rivals = (events: readonly PlacementEvent[], nowMs = NOW, writes = true) => {
    let state: PlacementState = INITIAL_STATE;
    for (const event of events) ({ state } = run([event], { ...state, wroteSinceRival: writes }));
    return rivalPlacements([[WEB, state]], nowMs);
  };
  const thrice = [page(V1, V2), page(V2, V3), page(V3, undefined)];

  it.each([
    { name: 'is named after three rounds', events: thrice, want: [WEB] },
    { name: 'is not named after two', events: thrice.slice(1), want: [] },
    { name: 'is not named later', events: thrice, nowMs: NOW + 600_000, want: [] },
    { name: 'creates pages, too', events: [...thrice.slice(1), page(undefined, V1)], want: [WEB] },
    { name: 'is not one whose writes Berth did not answer', events: thrice, writes: false, want: [] },
    {
      name: 'is the one that leads, while this process stands by',
      events: thrice.map((event) => ({ ...event, isLeader: false }) as PlacementEvent),
      want: [],
    },
    {
      name: 'is not the garbage collector',
      events: thrice.map((event) => ({ ...event, isPlacementThere: false }) as PlacementEvent),
      want: [],
    },
    {
      name: 'is forgotten with the placement',
      events: [...thrice, placement('1', undefined, true)],
      want: [],
    },
  ])('$name', ({ events, nowMs = NOW, writes, want }) => {
    expect(rivals(events, nowMs, writes)).toEqual(want);
  });

  it('is not noted after a pass whose own write has no answer: the change may be that write', () => {
    const { state } = run([create, page(V1, V2), failed], { ...INITIAL_STATE, wroteSinceRival: true });
    expect([state.isUncertain, state.rivalRoundsAtMs]).toEqual([true, []]);
  });
});
