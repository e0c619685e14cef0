import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SchedulingLoop } from '../../../src/controllers/scheduling/scheduling-loop.ts';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Transition } from '../../../src/core/transition/transition.ts';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { FakeClock } from '@berth/test-kit/fake-clock';

const SNAPSHOT: Snapshot = {
  now: '',
  placements: [],
  clusters: [],
  clusterSets: [],
  bindings: [],
  scores: [],
  decisions: [],
};

const placementOf = (name: string): Placement =>
  ({ metadata: { namespace: 'team', name, uid: name, generation: 1 } }) as Placement;

const resultOf = (name: string, selected: readonly string[]): ScheduleResult => ({
  placement: placementOf(name),
  outcome: 'scheduled',
  status: { code: 'Success', plugin: '', message: '' },
  selected,
  selectedScores: selected.map(() => 0),
  unscheduled: 0,
  groups: [{ name: '', clusters: selected }] as unknown as ScheduleResult['groups'],
  conditions: [],
  requeueAtMs: undefined,
});

/** Decides each placement once. */
function* onceThrough(snapshot: Snapshot, results: Iterable<ScheduleResult>): Generator<void, Transition> {
  const decided = new Map<string, ScheduleResult>();
  for (const result of results) {
    const { namespace = '', name } = result.placement.metadata;
    decided.set(`${namespace}/${name}`, result);
    yield;
  }
  return { snapshot, results: decided, decidedIn: new Map(), moved: new Map(), rounds: 1, unstable: [] };
}

describe('a transition', () => {
  let clock: FakeClock;
  let stop: AbortController;
  let queued: string[];
  let published: Promise<void>;
  let cycle: () => Iterable<ScheduleResult>;
  let loop: SchedulingLoop;
  let snapshot: Snapshot;

  beforeEach(() => {
    clock = new FakeClock();
    snapshot = SNAPSHOT;
    stop = new AbortController();
    [queued, published] = [[], Promise.resolve()];
    loop = new SchedulingLoop({
      clock,
      snapshot: () => snapshot,
      transition: (start) => onceThrough(start, cycle()),
      onEach: () => undefined,
      whenPublished: () => published,
      onResult: () => undefined,
      enqueue: (key) => queued.push(key),
    });
  });
  afterEach(() => stop.abort());

  it('is made again when a toleration of a selected cluster ends, also of one that is not published', async () => {
    const now = new Date(clock.now()).toISOString();
    const taints = [{ key: 'drain', effect: 'NoSelect', timeAdded: now }];
    const cluster = { metadata: { name: 'c1' }, spec: { taints } } as unknown as Snapshot['clusters'][number];
    snapshot = { ...SNAPSHOT, now, clusters: [cluster] };
    const tolerations = [{ key: 'drain', operator: 'Exists', tolerationSeconds: 60 }];
    const result = resultOf('first', ['c1']);
    cycle = () => [{ ...result, placement: { ...result.placement, spec: { tolerations } } as Placement }];
    const run = loop.run(stop.signal);
    await clock.advance(59_000);
    const before = loop.cycles;
    await clock.advance(2_000);
    expect(loop.cycles).toBeGreaterThan(before);
    stop.abort();
    await run;
  });

  it('is published only when all placements are decided, and lets others in meanwhile', async () => {
    const seenByOthers: (readonly string[])[] = [];
    cycle = function* () {
      yield resultOf('first', ['c1']);
      clock.schedule(0, () => seenByOthers.push([...queued]));
      clock.jump(11); // so long the next one takes to decide
      yield resultOf('second', ['c1']);
      yield resultOf('third', ['c1']);
    };
    const run = loop.run(stop.signal);
    await clock.advance(20);
    expect(seenByOthers).toEqual([[]]);
    expect(queued).toEqual(['team/first', 'team/second', 'team/third']);
    stop.abort();
    await run;
  });

  it('begins when what was decided before is published, or after two seconds', async () => {
    let begun = 0;
    cycle = function* () {
      begun += 1;
      yield resultOf('web', ['c1']);
    };
    const run = loop.run(stop.signal);
    await clock.advance(1_000);
    begun = 0;
    let publish = (): void => undefined;
    published = new Promise((resolve) => (publish = resolve));
    loop.request('inputs');
    await clock.advance(1_000);
    expect(begun).toBe(0);
    publish();
    await clock.advance(0);
    expect(begun).toBe(1);
    published = new Promise(() => undefined);
    loop.request('inputs');
    await clock.advance(2_100);
    expect(begun).toBe(2);
    stop.abort();
    await run;
  });

  it('is not made again for its own publication where decisions keep changing each other', async () => {
    let transitions = 0;
    const told: (readonly string[])[] = [];
    loop = new SchedulingLoop({
      clock,
      snapshot: () => SNAPSHOT,
      *transition(snapshot) {
        transitions += 1;
        yield;
        const results = new Map([['team/web', resultOf('web', [`c${transitions}`])]]);
        return {
          snapshot,
          results,
          decidedIn: new Map(),
          moved: new Map(),
          rounds: 1,
          unstable: ['team/web'],
        };
      },
      onEach: () => undefined,
      whenPublished: () => published,
      onResult: () => undefined,
      enqueue: (key) => queued.push(key),
      onUnstable: (keys) => told.push(keys),
    });
    const run = loop.run(stop.signal);
    await clock.advance(1_000);
    loop.request('decisions');
    await clock.advance(1_000);
    expect([transitions, told]).toEqual([1, [['team/web']]]);
    loop.request('inputs');
    await clock.advance(1_000);
    expect([transitions, told.length]).toEqual([2, 1]);
    stop.abort();
    await run;
  });

  it('that failed is made again, with the placements that somebody asked for', async () => {
    cycle = () => [resultOf('web', ['c1'])];
    const first = loop.run(stop.signal);
    await clock.advance(20);
    queued.length = 0;
    cycle = () => {
      throw new Error('an engine that fails');
    };
    const failed = expect(first).rejects.toThrow('an engine that fails');
    loop.request('decisions', 'team/web');
    await clock.advance(20);
    await failed;
    cycle = () => [resultOf('web', ['c1'])];
    const again = loop.run(stop.signal);
    await clock.advance(20);
    expect(queued).toEqual(['team/web']);
    stop.abort();
    await again;
  });

  it('is made once more when the first is published, for an engine to get ready for changes; then no more', async () => {
    cycle = () => [resultOf('web', ['c1'])];
    let publish = (): void => undefined;
    published = new Promise((resolve) => (publish = resolve));
    const run = loop.run(stop.signal);
    await clock.advance(1_000);
    expect(loop.cycles).toBe(1);
    publish();
    await clock.advance(0);
    expect(loop.cycles).toBe(2);
    await clock.advance(10_000);
    expect([loop.cycles, queued]).toEqual([2, ['team/web']]);
    stop.abort();
    await run;
  });

  it('waits while changes keep coming, up to twice as long as the last one took', async () => {
    const startedAtMs: number[] = [];
    cycle = function* () {
      startedAtMs.push(clock.now());
      clock.jump(100);
      yield resultOf('web', ['c1']);
    };
    const run = loop.run(stop.signal);
    await clock.advance(1_000);
    const busyFromMs = clock.now();
    for (let at = 0; at < 300; at += 10) {
      loop.request('inputs');
      await clock.advance(10);
    }
    await clock.advance(1_000);
    // After the first one, and the one in which the engine got ready.
    expect(startedAtMs.slice(2).map((at) => at - busyFromMs)).toEqual([200, 420]);
    const quietFromMs = clock.now();
    loop.request('inputs');
    await clock.advance(1_000);
    expect((startedAtMs.at(-1) ?? 0) - quietFromMs).toBe(20);
    stop.abort();
    await run;
  });

  describe('when a placement was changed itself', () => {
    const names = ['a', 'b', 'c', 'd'];
    /** What was decided, in order, with the time since the last `mark`. */
    let decided: [string, number][];
    let markMs: number;
    const mark = (): void => {
      markMs = clock.now();
      decided = [];
      queued.length = 0;
    };
    /** Each decision takes so long. */
    let costMs: number;
    let generation: number;
    /** Called when others have their turn after a decision. */
    let meanwhile: (name: string) => void;
    let following: boolean;
    let run: Promise<void>;

    function* decide(snapshot: Snapshot): Generator<ScheduleResult> {
      for (const { metadata } of snapshot.placements) {
        clock.jump(costMs);
        decided.push([metadata.name, clock.now() - markMs]);
        clock.schedule(0, () => meanwhile(metadata.name));
        yield resultOf(metadata.name, [`c${generation}`]);
      }
    }

    beforeEach(async () => {
      published = Promise.resolve();
      [costMs, generation, meanwhile, following] = [0, 1, () => undefined, false];
      loop = new SchedulingLoop({
        clock,
        snapshot: () => ({ ...SNAPSHOT, placements: names.map(placementOf) }),
        transition: (snapshot) => onceThrough(snapshot, decide(snapshot)),
        onEach: () => undefined,
        whenPublished: () => published,
        isFollowing: () => following,
        onResult: () => undefined,
        enqueue: (key) => queued.push(key),
      });
      mark();
      run = loop.run(stop.signal);
      await clock.advance(1_000);
      mark();
    });
    afterEach(async () => {
      stop.abort();
      await run;
    });

    it('begins at once, in the order of the names', async () => {
      loop.request('inputs', 'team/c');
      await clock.advance(0);
      expect(decided).toEqual(names.map((name) => [name, 0]));
      expect(queued).toEqual(['team/c']);
    });

    it('ends at once while it waits', async () => {
      published = new Promise(() => undefined);
      loop.request('inputs', 'team/c');
      await clock.advance(10);
      stop.abort();
      await run;
      expect(decided).toEqual([]);
    });

    it('is interrupted for it and begins again', async () => {
      [costMs, generation] = [10, 2];
      meanwhile = (name) => {
        if (name === 'b' && decided.length === 2) loop.request('inputs', 'team/d');
      };
      loop.request('inputs');
      await clock.advance(100);
      expect(decided.map(([name]) => name)).toEqual(['a', 'b', 'a', 'b', 'c', 'd']);
      expect(new Set(queued)).toEqual(new Set(names.map((name) => `team/${name}`)));
      // The first one and the one after it, before.
      expect(loop.cycles).toBe(3);
    });

    it('leaves what is left of a cycle until a commit is on the hub, for 200 ms at most', async () => {
      [costMs, following] = [10, true];
      loop.request('inputs');
      await clock.advance(20 + 195);
      expect(decided).toHaveLength(1);
      await clock.advance(10);
      expect(decided).toHaveLength(4);
    });

    it('begins again with what a commit changed as soon as that is on the hub', async () => {
      [costMs, following] = [10, true];
      loop.request('inputs');
      await clock.advance(50);
      loop.request('inputs', 'team/d');
      await clock.advance(0);
      expect(decided.map(([name]) => name)).toEqual(['a', 'a']);
    });

    it('gathers those that change right after it', async () => {
      loop.request('inputs', 'team/c');
      await clock.advance(0);
      mark();
      for (const name of ['d', 'b']) {
        loop.request('inputs', `team/${name}`);
        await clock.advance(5);
      }
      expect(decided).toEqual([]);
      await clock.advance(100);
      expect(decided.map(([name]) => name)).toEqual(names);
    });

    it.each([
      ['often', 30, { afterMs: 5_000, atLeast: 40 }],
      ['long', 1_000, { afterMs: 9_000, atLeast: 9 }],
    ])('makes a cycle to its end however %s others change', async (_how, each, { afterMs, atLeast }) => {
      costMs = each;
      meanwhile = () => {
        if (decided.length < 1_000) loop.request('inputs', 'team/a');
      };
      loop.request('inputs', 'team/a');
      await clock.advance(30_000);
      const whole = decided.findIndex(([name]) => name === 'd');
      const begun = decided.slice(0, whole).filter(([name]) => name === 'a');
      expect(begun.length).toBeGreaterThanOrEqual(atLeast);
      const [, begunAtMs = 0] = begun.at(-1) ?? [];
      expect(begunAtMs).toBeGreaterThanOrEqual(afterMs);
      expect(begunAtMs).toBeLessThan(afterMs + 2 * each + 100);
    });

    it('waits longer and longer while changes keep coming, instead of beginning for nothing', async () => {
      costMs = 10;
      const change = (): void => {
        if (clock.now() - markMs >= 4_000) return;
        loop.request('inputs', 'team/a');
        clock.schedule(5, change);
      };
      change();
      meanwhile = () => {
        if (clock.now() - markMs < 4_000) loop.request('inputs', 'team/a');
      };
      await clock.advance(4_000);
      const begun = decided.filter(([name]) => name === 'a');
      expect(begun.length).toBeLessThan(12);
      await clock.advance(1_000);
      expect(decided.slice(-names.length).map(([name]) => name)).toEqual(names);
    });
  });
});
