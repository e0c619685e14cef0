import { beforeEach, describe, expect, it } from 'vitest';
import { PlanApprovals } from '../../../src/controllers/publication/plan-approvals.ts';
import type { SourceObject } from '@berth/kube/model/source-object';
import {
  currentApprovals,
  isPlanWaiting,
  type PlanOutcome,
  type SourcePlans,
} from '../../../src/core/publish/approval/pending-plans.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

const MINUTE = 60_000;
const WEB = 'team-a/web';
const saying = (...entries: string[]): readonly SourceObject[] => [
  {
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', annotations: { 'berth.dev/plan': entries.join(' ') } },
    },
    location: { file: 'x.yaml', line: 1, column: 1 },
  },
];
const at = (id: string) => ({ id, tree: `tree of ${id}` });
const T1 = `${WEB}=000000000001`;
const T2 = `${WEB}=000000000002`;

describe('PlanApprovals', () => {
  let clock: FakeClock;
  let store: Map<string, SourcePlans>;
  let approvals: PlanApprovals;
  const restart = () => new PlanApprovals(store, clock, ['fleet', 'other']);
  const approved = () => currentApprovals(approvals.pendingFor(WEB), clock.now());
  const codes = () => approved()?.tokens;
  const isWaiting = () => isPlanWaiting(approvals.pendingFor(WEB), clock.now());
  const judged = (outcome: PlanOutcome, placement = WEB) =>
    approvals.judged(placement, approvals.pendingFor(WEB), outcome);
  beforeEach(() => {
    [clock, store] = [new FakeClock(), new Map()];
    approvals = restart();
    void approvals.read('fleet', at('a'), saying());
  });

  it('is stored by the first read, so that a process that is killed after it leaves the next one what is new', async () => {
    const onDisk = new Map<string, SourcePlans>();
    const persist = (source: string, plans: SourcePlans) =>
      Promise.resolve(onDisk.set(source, plans)).then(() => undefined);
    const killed = new PlanApprovals(Object.assign(new Map<string, SourcePlans>(), { persist }), clock, [
      'fleet',
    ]);
    await killed.read('fleet', at('a'), saying());
    store = onDisk;
    approvals = restart();
    void approvals.read('fleet', at('b'), saying(T1));
    expect(codes()).toEqual(['000000000001']);
  });

  it('does not judge what a later commit changes, unless it caused a hold', async () => {
    void approvals.read('fleet', at('b'), saying(T1));
    approvals.followed('fleet');
    // Its decisions may not be made yet.
    await clock.advance(1_999);
    void approvals.read('fleet', at('c'), saying(T1));
    expect(approved()).toEqual({ tokens: ['000000000001'], commit: 'b' });
    await clock.advance(1);
    // Another process reads the same commit.
    approvals = restart();
    void approvals.read('fleet', at('b'), saying(T1));
    expect(codes()).toEqual(['000000000001']);
    void approvals.read('fleet', at('d'), saying(T1));
    expect(codes()).toBeUndefined();

    void approvals.read('fleet', at('e'), saying(T2));
    approvals.followed('fleet');
    await clock.advance(2_000);
    judged('differs');
    void approvals.read('fleet', at('f'), saying(T2));
    expect(approved()).toEqual({ tokens: ['000000000002'], commit: 'e' });
  });

  it('is judged as long as its commit is the last one where a change is held for another reason', async () => {
    void approvals.read('fleet', at('b'), saying(T1));
    approvals.followed('fleet');
    judged('held');
    await clock.advance(60 * MINUTE);
    approvals = restart();
    void approvals.read('fleet', at('b'), saying(T1));
    expect(approved()).toEqual({ tokens: ['000000000001'], commit: 'b' });
    judged('differs');
    void approvals.read('fleet', at('c'), saying(T1));
    expect(codes()).toEqual(['000000000001']);
    judged('held');
    void approvals.read('fleet', at('d'), saying(T1));
    expect(codes()).toBeUndefined();
  });

  it('counts from the commit that brings it, and not before its change had time to come about', async () => {
    expect(codes()).toBeUndefined();
    void approvals.read('fleet', at('b'), saying(T1));
    expect(approved()).toEqual({ tokens: ['000000000001'], commit: 'b' });
    await clock.advance(MINUTE);
    expect(isWaiting()).toBe(true);
    approvals.followed('fleet');
    expect(isWaiting()).toBe(true);
    await clock.advance(2_000);
    expect(isWaiting()).toBe(false);
    expect(codes()).toEqual(['000000000001']);
  });

  it('has another revision when a commit that is read brings or withdraws one', () => {
    const revisions = [approvals.revision];
    for (const said of [saying(T1), saying(T1), saying(T2), saying()]) {
      void approvals.read('fleet', at('b'), said);
      revisions.push(approvals.revision);
    }
    expect(revisions.map((revision) => revision - (revisions[0] ?? 0))).toEqual([0, 1, 1, 2, 3]);
  });

  it('tells of one that a commit withdraws as soon as the hub follows the commit', () => {
    const withdrawn: string[] = [];
    approvals.onWithdrawn((placement) => withdrawn.push(placement));
    void approvals.read('fleet', at('b'), saying(T1));
    approvals.followed('fleet');
    judged('differs');
    void approvals.read('fleet', at('c'), saying());
    expect(withdrawn).toEqual([]);
    approvals.followed('fleet');
    approvals.followed('fleet');
    expect(withdrawn).toEqual([WEB]);
    void approvals.read('fleet', at('d'), saying(T1));
    void approvals.read('fleet', at('e'), saying(T2));
    approvals.followed('fleet');
    expect(withdrawn).toEqual([WEB, WEB]);
  });

  it('judges what was decided before until the hub follows the commit that withdraws it', () => {
    void approvals.read('fleet', at('b'), saying(T1));
    approvals.followed('fleet');
    void approvals.read('fleet', at('c'), saying());
    expect(codes()).toEqual(['000000000001']);
    const { revision } = approvals;
    approvals.followed('fleet');
    expect(codes()).toBeUndefined();
    // What was decided on the way is decided again.
    expect(approvals.revision).toBe(revision + 1);
    approvals.followed('fleet');
    expect(approvals.revision).toBe(revision + 1);
  });

  it('is over when it is met, when its time is, or when it is taken back', async () => {
    void approvals.read('fleet', at('b'), saying(T1));
    judged('met');
    expect(codes()).toBeUndefined();

    void approvals.read('fleet', at('c'), saying(T2));
    approvals.followed('fleet');
    await clock.advance(10 * MINUTE - 1);
    judged('none');
    expect(codes()).toEqual(['000000000002']);
    await clock.advance(1);
    expect(codes()).toBeUndefined();

    void approvals.read('fleet', at('d'), saying(T1));
    void approvals.read('fleet', at('e'), saying());
    expect(codes()).toBeUndefined();
  });

  it('does not pass by waiting while another change is held, also across a restart', async () => {
    void approvals.read('fleet', at('b'), saying(T1));
    approvals.followed('fleet');
    await clock.advance(2_000);
    judged('differs');
    await clock.advance(60 * MINUTE);
    approvals = restart();
    void approvals.read('fleet', at('b'), saying(T1));
    expect(codes()).toEqual(['000000000001']);
    expect(isWaiting()).toBe(false);
    // What was held is gone by itself, and so is the time of the approval.
    judged('none');
    expect(codes()).toBeUndefined();
  });

  it('counts once: an old approval in Git approves nothing new, nor does what a source says at first', () => {
    void approvals.read('fleet', at('b'), saying(T1));
    judged('met');
    void approvals.read('fleet', at('c'), saying(T1));
    approvals = restart();
    void approvals.read('fleet', at('d'), saying(T1));
    void approvals.read('other', at('x'), saying(T2));
    expect(codes()).toBeUndefined();
    void approvals.read('other', at('y'), saying(T1));
    expect(approved()).toEqual({ tokens: ['000000000001'], commit: 'y' });
  });

  it('of two sources, each is met by its own', () => {
    void approvals.read('other', at('x'), saying());
    void approvals.read('fleet', at('b'), saying(T1));
    void approvals.read('other', at('y'), saying(T2));
    expect(codes()).toEqual(['000000000001', '000000000002']);
    judged('met', 'team-b/else');
    expect(codes()).toHaveLength(2);
  });

  describe('of a placement that a commit moves to another source', () => {
    beforeEach(async () => {
      void approvals.read('other', at('a'), saying());
      void approvals.read('fleet', at('b'), saying(T1));
      void approvals.read('other', at('b'), saying());
      for (const source of ['fleet', 'other']) approvals.followed(source);
      await clock.advance(2_000);
    });
    const moves = {
      'read first where it is': () => {
        void approvals.read('other', at('c'), saying(T1));
        approvals = restart();
        void approvals.read('fleet', at('c'), saying());
      },
      'read first where it was': () => {
        void approvals.read('fleet', at('c'), saying());
        // The commit is read again after a restart.
        approvals = restart();
        void approvals.read('fleet', at('c'), saying());
        void approvals.read('other', at('c'), saying(T1));
      },
    };

    it.each(Object.entries(moves))('is not new: %s', (_, move) => {
      judged('met');
      move();
      for (const source of ['fleet', 'other']) approvals.followed(source);
      expect(codes()).toBeUndefined();
    });

    it.each(Object.entries(moves))('still holds what it held: %s', async (_, move) => {
      judged('differs');
      move();
      for (const source of ['fleet', 'other']) approvals.followed(source);
      await clock.advance(60 * MINUTE);
      expect(approved()).toEqual({ tokens: ['000000000001'], commit: 'b' });
      // A commit that withdraws it ends it.
      void approvals.read('other', at('d'), saying());
      approvals.followed('other');
      expect(codes()).toBeUndefined();
    });

    it('is new if a later commit brings it, or other codes', () => {
      judged('met');
      void approvals.read('fleet', at('c'), saying());
      void approvals.read('other', at('c'), saying(T2));
      expect(codes()).toEqual(['000000000002']);
      void approvals.read('other', at('d'), saying());
      void approvals.read('other', at('e'), saying(T1));
      approvals.followed('other');
      expect(approved()).toEqual({ tokens: ['000000000001'], commit: 'e' });
    });
  });

  it('is not met by the change of another commit, which was under way when it came', () => {
    void approvals.read('fleet', at('b'), saying(T1));
    const compared = approvals.pendingFor(WEB);
    approvals.followed('fleet');
    void approvals.read('fleet', at('c'), saying(T2));
    approvals.judged(WEB, compared, 'met');
    expect(approved()).toEqual({ tokens: ['000000000002'], commit: 'c' });
  });

  describe('of a merged pull request', () => {
    beforeEach(() => {
      approvals.findMergedPlansWith((source, tree) =>
        source === 'fleet' && tree === 'tree of b' ? new Map([[WEB, ['000000000003']]]) : undefined,
      );
    });

    it('counts from the commit that leaves the planned tree, and no commit withdraws it', () => {
      void approvals.read('fleet', at('b'), saying());
      approvals.followed('fleet');
      judged('differs');
      void approvals.read('fleet', at('c'), saying());
      approvals.followed('fleet');
      approvals = restart();
      expect(approved()).toEqual({ tokens: ['000000000003'], commit: 'b' });
      judged('met');
      expect(codes()).toBeUndefined();
    });

    it('counts less than what the commit itself says', () => {
      void approvals.read('fleet', at('b'), saying(T1));
      expect(codes()).toEqual(['000000000001']);
    });

    it('approves nothing where the source is read for the first time', () => {
      store.clear();
      void approvals.read('fleet', at('b'), saying());
      expect(codes()).toBeUndefined();
    });
  });
});
