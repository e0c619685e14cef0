import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { ApprovedPlan } from '../../../../src/core/publish/approval/approved-plans.ts';
import { approvalCode } from '../../../../src/core/publish/approval/approval-code.ts';
import { decidePublication, specHash } from '../../../../src/core/publish/judge/decide-publication.ts';
import type { DecisionPage } from '../../../../src/core/publish/pages/decision-page.ts';
import { planPlacementStatus } from '../../../../src/core/publish/pages/placement-status.ts';
import type { PublishState } from '../../../../src/core/publish/judge/publish-state.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const START = Date.parse('2026-01-01T00:00:00Z');

/** A placement whose publications are carried out at once: what is published, and what is remembered. */
class Story {
  published: string[] = [];
  state: PublishState | undefined;
  nowMs = START;
  annotations: Record<string, string> = {
    'berth.dev/move-policy': 'MakeBeforeBreak',
    'berth.dev/move-deadline': '10m',
  };
  readonly ready = new Set<string>();
  approved: ApprovedPlan | undefined;
  /** What was hashed to decide. */
  readonly digests: string[] = [];
  conditions: Condition[] = [];
  worksProblem: string | undefined;
  spec: Placement['spec'] = {};

  step(selected: string[]) {
    const placement: Placement = {
      apiVersion: 'v',
      kind: 'Placement',
      metadata: { name: 'web', namespace: 'a', annotations: this.annotations },
      spec: this.spec,
      status: { conditions: this.conditions },
    };
    const result: ScheduleResult = {
      placement,
      outcome: 'scheduled',
      status: { code: 'Success', plugin: '', message: '' },
      selected,
      selectedScores: [],
      unscheduled: 0,
      groups: [{ index: 0, name: '', clusters: selected }],
      conditions: [],
      requeueAtMs: undefined,
    };
    const decisions = this.published.map((clusterName) => ({ clusterName, reason: '' }));
    const page: DecisionPage = {
      name: 'web-decision-1',
      group: { name: '', index: 0 },
      decisions,
      owned: true,
    };
    const wanted = decidePublication({
      key: 'a/web',
      placement,
      result,
      pages: this.published.length > 0 ? [page] : [],
      state: this.state,
      budget: { percent: 25, atLeast: 2 },
      inventoryProblem: undefined,
      worksProblem: this.worksProblem,
      approved: this.approved,
      isReady: (cluster) => this.ready.has(cluster),
      nowMs: this.nowMs,
      digest: (text) => (this.digests.push(text), digest(text)),
    });
    if (wanted.groups !== undefined) {
      this.published = wanted.groups.flatMap((group) => group.decisions.map((d) => d.clusterName));
      this.state = {
        specHash: specHash(digest, placement),
        publishedAtMs: this.nowMs,
        removals: [],
        move: wanted.handover,
      };
    }
    return wanted;
  }
}

it('hashes no spec as long as clusters stay: at a start all placements are judged', () => {
  const story = new Story();
  story.step(['a', 'b']);
  expect(story.step(['b', 'a', 'c'])).toMatchObject({ hold: undefined, added: ['c'] });
  expect(story.digests).not.toContain('{}');
  const emptied = story.step([]);
  expect(emptied.hold?.message).toContain('though nobody edited the placement');
  // Only a release ends this hold, so there is nothing to try again.
  expect(emptied.againAfterMs).toBeUndefined();
  expect(story.digests).toContain('{}');
});

describe('a handover', () => {
  it('keeps the old cluster until the new one runs', () => {
    const story = new Story();
    story.step(['a', 'b']);
    expect(story.published).toEqual(['a', 'b']);
    expect(story.step(['b', 'c'])).toMatchObject({ againAfterMs: 5_000, hold: undefined });
    expect(story.published).toEqual(['b', 'c', 'a']);
    story.nowMs += 300_000;
    story.step(['b', 'c']);
    expect(story.published).toEqual(['b', 'c', 'a']);
    story.ready.add('c');
    expect(story.step(['b', 'c'])).toMatchObject({ removed: ['a'], againAfterMs: undefined });
    expect(story.published).toEqual(['b', 'c']);
    expect(story.state?.move).toBeUndefined();
  });

  it('checks again at the deadline when that is soon', () => {
    const story = new Story();
    story.step(['a']);
    story.step(['c']);
    story.nowMs += 598_000;
    expect(story.step(['c'])).toMatchObject({ againAfterMs: 2_000, hold: undefined });
  });

  it('is held and tried again while the works cannot be read, but only if a cluster leaves', () => {
    const story = new Story();
    story.step(['a', 'b']);
    story.worksProblem = 'ManifestWorks were last confirmed 400 s ago';
    const held = story.step(['b', 'c']);
    expect(held).toMatchObject({ againAfterMs: 5_000, hold: { reason: 'InventoryStale', removed: ['a'] } });
    expect(held.hold?.message).toContain('ManifestWorks were last confirmed 400 s ago');
    expect(story.published).toEqual(['a', 'b']);
    expect(story.step(['a', 'b', 'c'])).toMatchObject({ hold: undefined, added: ['c'] });
  });

  it('is held at the deadline with both published; a release finishes it', () => {
    const story = new Story();
    story.step(['a']);
    story.step(['c']);
    story.nowMs += 600_000;
    const held = story.step(['c']);
    expect(held.hold).toMatchObject({
      reason: 'MoveTimedOut',
      message: expect.stringContaining('Not ready in time: c') as string,
    });
    expect(story.published).toEqual(['c', 'a']);
    story.annotations['berth.dev/release'] = held.hold?.code ?? '';
    story.step(['c']);
    expect(story.published).toEqual(['c']);
  });

  it('can be given up: the new clusters go, the old ones stay', () => {
    const story = new Story();
    story.step(['a', 'b']);
    const { handover } = story.step(['b', 'c']);
    story.annotations['berth.dev/move-abort'] = handover?.token ?? '';
    story.step(['b', 'c']);
    expect(story.published).toEqual(['b', 'a']);
    expect(story.step(['b', 'c']).hold).toBeUndefined();
    expect(story.published).toEqual(['b', 'a']);
  });

  it('starts again when the decision moves on', () => {
    const story = new Story();
    story.step(['a']);
    story.step(['b']);
    story.nowMs += 500_000;
    story.step(['c']);
    expect([...story.published].sort()).toEqual(['a', 'b', 'c']);
    story.nowMs += 500_000;
    expect(story.step(['c']).hold).toBeUndefined();
    expect([...story.published].sort()).toEqual(['a', 'b', 'c']);
    story.ready.add('c');
    story.step(['c']);
    expect(story.published).toEqual(['c']);
  });

  it('waits for those that were on their way before the decision moved on, and not for those that it left behind', () => {
    const story = new Story();
    story.annotations['berth.dev/removal-budget'] = '3';
    story.step(['a1', 'a2']);
    story.step(['b1', 'b2']);
    // b1 is lost before its work ran, b3 takes its place.
    story.step(['b2', 'b3']);
    story.ready.add('b3');
    for (let look = 0; look < 3; look++) story.step(['b2', 'b3']);
    expect([...story.published].sort()).toEqual(['a1', 'a2', 'b1', 'b2', 'b3']);
    story.ready.add('b2');
    story.step(['b2', 'b3']);
    expect(story.published).toEqual(['b2', 'b3']);
  });

  it('keeps the old cluster when those that are to replace it become fewer', () => {
    const story = new Story();
    story.step(['a']);
    story.step(['b1', 'b2']);
    story.step(['b2']);
    story.step(['b2']);
    expect(story.published).toContain('a');
    story.ready.add('b2');
    story.step(['b2']);
    expect(story.published).toEqual(['b2']);
  });

  it('drops at once what was to follow when the decision goes back', () => {
    const story = new Story();
    story.step(['a']);
    story.step(['b']);
    story.step(['a']);
    expect(story.published).toEqual(['a']);
  });

  it('given up after the decision moved on, leaves what was there before both', () => {
    const story = new Story();
    story.step(['a']);
    story.step(['b']);
    const { handover } = story.step(['c']);
    story.annotations['berth.dev/move-abort'] = handover?.token ?? '';
    story.step(['c']);
    expect(story.published).toEqual(['a']);
  });

  it.each([
    { name: 'nobody remembers how it began', forget: () => undefined },
    {
      name: 'another process began it, of whom there are only records',
      forget: ({ specHash, publishedAtMs }: PublishState): PublishState => ({
        specHash,
        publishedAtMs,
        removals: [],
        recalled: true,
      }),
    },
  ])('does not take the end of a handover for granted when $name', ({ forget }) => {
    const story = new Story();
    story.step(['a']);
    story.step(['b']);
    story.state = forget(story.state!);
    for (let look = 0; look < 3; look++) story.step(['b']);
    expect([...story.published].sort()).toEqual(['a', 'b']);
    story.nowMs += 600_000;
    expect(story.step(['b']).hold?.reason).toBe('MoveTimedOut');
    story.ready.add('b');
    story.step(['b']);
    expect(story.published).toEqual(['b']);
  });

  it('does not delay what only adds or only removes', () => {
    const story = new Story();
    story.step(['a', 'b']);
    story.step(['a', 'b', 'c']);
    story.step(['a', 'b']);
    expect(story.published).toEqual(['a', 'b']);
  });
});

describe('removals that count together', () => {
  const eight = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];
  /** Two of eight went at the start; a third one is to go now. */
  function drained(nowMs: number, over: { held?: string; spec?: object } = {}): string | undefined {
    const story = new Story();
    story.step(eight.slice(2));
    story.state = { ...story.state!, removals: [{ atMs: START, count: 2 }] };
    if (over.held !== undefined)
      story.conditions = [
        {
          type: 'berth.dev/Held',
          status: 'True',
          reason: over.held,
          message: '',
          lastTransitionTime: new Date(START + 300_000).toISOString(),
        },
      ];
    story.spec = over.spec ?? {};
    story.nowMs = START + nowMs;
    return story.step(eight.slice(3)).hold?.reason;
  }

  it.each([
    { name: 'within ten minutes', atMs: 300_000, over: {}, want: 'RemovalBudgetExceeded' },
    { name: 'later', atMs: 600_000, over: {}, want: undefined },
    {
      name: 'later, but held since: waiting releases nothing',
      atMs: 3 * 3_600_000,
      over: { held: 'RemovalBudgetExceeded' },
      want: 'RemovalBudgetExceeded',
    },
    { name: 'later, held for something else', atMs: 700_000, over: { held: 'WouldEmpty' }, want: undefined },
    {
      name: 'within ten minutes, but the spec was changed: another change',
      atMs: 300_000,
      over: { spec: { numberOfClusters: 5 } },
      want: undefined,
    },
  ])('$name: $want', ({ atMs, over, want }) => expect(drained(atMs, over)).toBe(want));
});

describe('a release', () => {
  it('counts once: the same change again has another code', () => {
    const story = new Story();
    story.annotations = {};
    const all = ['c1', 'c2', 'c3', 'c4'];
    story.step(all);
    const first = story.step([]).hold?.code ?? '';
    story.annotations = { 'berth.dev/release': first };
    story.step([]);
    expect(story.published).toEqual([]);
    story.step(all);
    story.state = { ...story.state!, spent: [first] };
    const second = story.step([]).hold;
    expect(second).toMatchObject({ reason: 'WouldEmpty' });
    expect(second?.code).not.toBe(first);
    story.annotations = { 'berth.dev/release': `${first}, ${second?.code}` };
    expect(story.step([])).toMatchObject({ hold: undefined, releasedCode: second?.code });
  });

  it('that was used does not speak against the same change in an approved plan', () => {
    const story = new Story();
    story.annotations = {};
    story.step(['c1', 'c2', 'c3', 'c4']);
    const code = approvalCode(digest, 'a/web', ['c1', 'c2', 'c3', 'c4'], ['c1', 'c2', 'c3']);
    story.state = { ...story.state!, spent: [code] };
    story.approved = { tokens: [code], commit: undefined };
    expect(story.step(['c1', 'c2', 'c3'])).toMatchObject({ hold: undefined, approval: 'met' });
  });

  it('that was used leaves the code of the next hold to be approved as well', () => {
    const story = new Story();
    story.annotations = {};
    story.step(['c1', 'c2', 'c3', 'c4']);
    const used = approvalCode(digest, 'a/web', ['c1', 'c2', 'c3', 'c4'], ['c1', 'c2', 'c3']);
    story.state = { ...story.state!, spent: [used] };
    story.approved = { tokens: ['ffffffffffff'], commit: undefined };
    const { hold } = story.step(['c1', 'c2', 'c3']);
    expect(hold?.reason).toBe('DiffersFromPlan');
    expect(hold?.code).not.toBe(used);
    story.approved = { tokens: [hold?.code ?? ''], commit: undefined };
    expect(story.step(['c1', 'c2', 'c3'])).toMatchObject({ hold: undefined, approval: 'met' });
  });
});

describe('planPlacementStatus', () => {
  const now = '2026-01-01T00:00:00Z';
  const condition = {
    type: 'PlacementSatisfied',
    status: 'True',
    reason: 'AllDecisionsScheduled',
    message: '',
  } as const;
  const pages = [
    { name: 'p-2', group: { name: 'x', index: 1 }, decisions: [{ clusterName: 'b', reason: '' }] },
    { name: 'p-1', group: { name: '', index: 0 }, decisions: [] },
  ];
  const first = planPlacementStatus({ current: undefined, pages, conditions: [condition], now });

  it('counts clusters and lists pages per group in index order', () => {
    expect(first).toEqual({
      numberOfSelectedClusters: 1,
      decisionGroups: [
        { decisionGroupIndex: 0, decisionGroupName: '', decisions: ['p-1'], clusterCount: 0 },
        { decisionGroupIndex: 1, decisionGroupName: 'x', decisions: ['p-2'], clusterCount: 1 },
      ],
      conditions: [{ ...condition, lastTransitionTime: now }],
    });
  });

  it('is nothing when nothing changed, also later', () => {
    expect(
      planPlacementStatus({ current: first, pages, conditions: [condition], now: '2027-01-01T00:00:00Z' }),
    ).toBeUndefined();
  });

  it('moves the transition time with the status only, and leaves conditions of others alone', () => {
    const foreign = { ...condition, type: 'Other', lastTransitionTime: '2020-01-01T00:00:00Z' };
    const current = { ...first, conditions: [foreign, ...(first?.conditions ?? [])] };
    const later = '2027-01-01T00:00:00Z';
    const reworded = planPlacementStatus({
      current,
      pages,
      conditions: [{ ...condition, message: 'new' }],
      now: later,
    });
    expect(reworded?.conditions).toEqual([
      foreign,
      { ...condition, message: 'new', lastTransitionTime: now },
    ]);
    const flipped = planPlacementStatus({
      current,
      pages,
      conditions: [{ ...condition, status: 'False' }],
      now: later,
    });
    expect(flipped?.conditions?.[1]).toMatchObject({ status: 'False', lastTransitionTime: later });
  });
});

describe('a change against the plan that was approved', () => {
  const approvedFor = (after: string[]): ApprovedPlan => ({
    tokens: [approvalCode(digest, 'a/web', ['c1', 'c2', 'c3', 'c4'], after)],
    commit: 'a'.repeat(40),
  });
  it.each([
    { name: 'no plan', approved: undefined, selected: ['c1', 'c2', 'c3'], approval: 'none', hold: undefined },
    {
      name: 'as approved',
      approved: ['c1', 'c2', 'c3'],
      selected: ['c1', 'c2', 'c3'],
      approval: 'met',
      hold: undefined,
    },
    {
      name: 'another one goes',
      approved: ['c1', 'c2', 'c3'],
      selected: ['c1', 'c2', 'c4'],
      approval: 'differs',
      hold: 'DiffersFromPlan',
    },
    {
      name: 'more come than were approved, none goes',
      approved: ['c1', 'c2', 'c3', 'c4', 'c5'],
      selected: ['c1', 'c2', 'c3', 'c4', 'c6'],
      approval: 'differs',
      hold: undefined,
    },
    {
      name: 'nothing changes',
      approved: ['c1'],
      selected: ['c4', 'c3', 'c2', 'c1'],
      approval: 'none',
      hold: undefined,
    },
    {
      name: 'beyond the budget: approved, but not released',
      approved: ['c1'],
      selected: ['c1'],
      approval: 'differs',
      hold: 'RemovalBudgetExceeded',
    },
  ])('$name', ({ approved, selected, approval, hold }) => {
    const story = new Story();
    story.annotations = {};
    story.step(['c1', 'c2', 'c3', 'c4']);
    story.approved = approved && approvedFor(approved);
    const wanted = story.step(selected);
    expect({ approval: wanted.approval, hold: wanted.hold?.reason }).toEqual({ approval, hold });
    expect(wanted.groups === undefined).toBe(hold !== undefined);
    if (hold !== 'DiffersFromPlan') return;
    expect(wanted.hold?.message).toMatch(
      /^This is not the plan that commit a{12} was approved with \([0-9a-f]{12}\): 1 of 4 clusters would be removed: c3\. /,
    );
    // The way out names this very change.
    story.annotations = { 'berth.dev/release': wanted.hold?.code ?? '' };
    expect(story.step(selected)).toMatchObject({ approval: 'met', removed: ['c3'] });
  });
});
