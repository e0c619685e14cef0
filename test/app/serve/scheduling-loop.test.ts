import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SchedulingLoop } from '../../../src/app/serve/scheduling-loop.ts';
import type { ScheduleResult } from '../../../src/core/placement/schedule-result.ts';
import type { World } from '../../../src/core/snapshot/world.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const WORLD: World = {
  now: '',
  placements: [],
  clusters: [],
  clusterSets: [],
  bindings: [],
  scores: [],
  decisions: [],
};

const resultOf = (name: string, selected: readonly string[]): ScheduleResult => ({
  placement: {
    metadata: { namespace: 'team', name, uid: name, generation: 1 },
  } as ScheduleResult['placement'],
  outcome: 'scheduled',
  status: { code: 'Success', plugin: '', message: '' },
  selected,
  selectedScores: selected.map(() => 0),
  unscheduled: 0,
  groups: [{ name: '', clusters: selected }] as unknown as ScheduleResult['groups'],
  conditions: [],
  requeueAtMs: undefined,
});

describe('a pass over the placements', () => {
  let clock: FakeClock;
  let stop: AbortController;
  let queued: string[];
  let pass: () => Iterable<ScheduleResult>;
  let loop: SchedulingLoop;

  beforeEach(() => {
    clock = new FakeClock();
    stop = new AbortController();
    queued = [];
    loop = new SchedulingLoop({
      clock,
      world: () => WORLD,
      schedule: () => pass(),
      onEach: () => undefined,
      whenPublished: () => Promise.resolve(),
      onResult: () => undefined,
      enqueue: (key) => queued.push(key),
    });
  });
  afterEach(() => stop.abort());

  it('lets a placement be published while the ones behind it are still being decided', async () => {
    const seenByOthers: (readonly string[])[] = [];
    pass = function* () {
      yield resultOf('first', ['c1']);
      clock.schedule(0, () => seenByOthers.push([...queued]));
      clock.jump(11); // so long the next one takes to decide
      yield resultOf('second', ['c1']);
      yield resultOf('third', ['c1']);
    };
    const run = loop.run(stop.signal);
    await clock.advance(20);
    expect(seenByOthers).toEqual([['team/first', 'team/second']]);
    expect(queued).toEqual(['team/first', 'team/second', 'team/third']);
    stop.abort();
    await run;
  });

  it('that failed is made again, with the placements that somebody asked for', async () => {
    pass = () => [resultOf('web', ['c1'])];
    const first = loop.run(stop.signal);
    await clock.advance(20);
    queued.length = 0;
    pass = () => {
      throw new Error('an engine that fails');
    };
    const failed = expect(first).rejects.toThrow('an engine that fails');
    loop.request('decisions', 'team/web');
    await clock.advance(20);
    await failed;
    pass = () => [resultOf('web', ['c1'])];
    const again = loop.run(stop.signal);
    await clock.advance(20);
    expect(queued).toEqual(['team/web']);
    stop.abort();
    await again;
  });

  it('waits while changes keep coming, up to twice as long as the last one took', async () => {
    const startedAtMs: number[] = [];
    pass = function* () {
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
    expect(startedAtMs.slice(1).map((at) => at - busyFromMs)).toEqual([200, 420]);
    const quietFromMs = clock.now();
    loop.request('inputs');
    await clock.advance(1_000);
    expect((startedAtMs.at(-1) ?? 0) - quietFromMs).toBe(20);
    stop.abort();
    await run;
  });
});
