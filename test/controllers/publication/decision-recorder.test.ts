import { beforeEach, describe, expect, it } from 'vitest';
import { digestWorld } from '../../../src/adapters/store/world-digest.ts';
import { DecisionRecorder } from '../../../src/controllers/publication/decision-recorder.ts';
import { startEngine } from '../../../src/controllers/scheduling/placement-engine.ts';
import type { ManagedCluster } from '../../../src/core/model/kind/managed-cluster.ts';
import type { Placement } from '../../../src/core/model/kind/placement.ts';
import type { ScheduleResult } from '../../../src/core/placement/result/schedule-result.ts';
import { type DecisionRecord, decidedText } from '../../../src/core/publish/record/decision-record.ts';
import type { World } from '../../../src/core/snapshot/world.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { ONE_BOUND_SET } from '../../core/placement/worlds.ts';

const GROUP = 'cluster.open-cluster-management.io';
const cluster = (name: string, tier: string): ManagedCluster => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ManagedCluster',
  metadata: { name, labels: { tier, [`${GROUP}/clusterset`]: 's' } },
});
const placement = (name: string, tier: string): Placement => ({
  apiVersion: `${GROUP}/v1beta1`,
  kind: 'Placement',
  metadata: { name, namespace: 'team', uid: name },
  spec: { predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier } } } }] },
});
const WORLD: World = {
  now: '2026-03-01T12:00:00.000Z',
  placements: [placement('api', 'gold'), placement('web', 'silver')],
  clusters: [cluster('c1', 'gold'), cluster('c2', 'gold'), cluster('c3', 'silver')],
  ...ONE_BOUND_SET,
};
const [API, WEB] = WORLD.placements as [Placement, Placement];
/** `web` selects something else; `api` has nothing to do with it. */
const later = (step: number): World => ({
  ...WORLD,
  now: new Date(Date.parse(WORLD.now) + step * 1_000).toISOString(),
  placements: [API, { ...WEB, spec: { ...WEB.spec, numberOfClusters: step + 1 } }],
});

describe('DecisionRecorder', () => {
  let records: DecisionRecord[];
  let recorder: DecisionRecorder;
  let engine: ReturnType<typeof startEngine>;
  beforeEach(() => {
    records = [];
    engine = startEngine();
    recorder = new DecisionRecorder({
      clock: new FakeClock(),
      engineVersion: 'x',
      commitBehind: () => undefined,
      inventoryRevision: () => 1,
      append: (record) => records.push(record),
    });
  });

  function pass(world: World): Readonly<Record<'api' | 'web', ScheduleResult>> {
    const results = [...engine(world)];
    for (const result of results) recorder.saw(world, result);
    const [api, web] = results as [ScheduleResult, ScheduleResult];
    return { api, web };
  }
  function record(result: ScheduleResult): DecisionRecord {
    const groups = result.groups.map(({ index, name, clusters }) => ({
      index,
      name,
      decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })),
    }));
    const key = `team/${result.placement.metadata.name}`;
    recorder.record({ placement: key, result, groups, added: [], removed: [], released: undefined });
    const last = records.at(-1);
    if (last === undefined) throw new Error('nothing was recorded');
    return last;
  }
  /** What a fresh engine decides in the world that the record names. */
  const replay = (world: World, name: string): string =>
    [...startEngine()(world)].filter((r) => r.placement.metadata.name === name).map(decidedText)[0] ?? '';

  it('names one world for what is published while passes go on, and each record can be computed again from it', () => {
    const first = pass(WORLD);
    const web = record(first.web);
    const world = later(1);
    const second = pass(world);
    // Whether or not the engine hands out the same object again.
    expect(decidedText(second.api)).toBe(decidedText(first.api));
    expect(decidedText(second.web)).not.toBe(decidedText(first.web));
    const api = record(second.api);
    const webAgain = record(second.web);
    expect(web.inputs).toBe(digestWorld(WORLD).hash);
    expect(api.inputs).toBe(web.inputs);
    expect(webAgain.inputs).toBe(digestWorld(world).hash);
    expect(replay(WORLD, 'web')).toBe(web.decided);
    expect(replay(WORLD, 'api')).toBe(api.decided);
    expect(replay(world, 'web')).toBe(webAgain.decided);
    // What is recorded now follows from the newer world as well.
    expect(record(second.api).inputs).toBe(webAgain.inputs);
  });

  it('names the world of the spec that was decided on', () => {
    const generation = (step: number): Placement => ({
      ...WEB,
      metadata: { ...WEB.metadata, generation: step },
    });
    const worlds = [1, 2].map((step): World => ({ ...later(step), placements: [API, generation(step)] }));
    const inputs = worlds.map((world) => record(pass(world).web).inputs);
    expect(inputs).toEqual(worlds.map((world) => digestWorld(world).hash));
  });

  it('does not record a result that no pass told of', () => {
    const [result] = [...engine(WORLD)];
    if (result === undefined) throw new Error('nothing was decided');
    expect(
      recorder.record({
        placement: 'team/api',
        result,
        groups: [],
        added: [],
        removed: [],
        released: undefined,
      }),
    ).toBe('');
    expect(records).toEqual([]);
  });
});
