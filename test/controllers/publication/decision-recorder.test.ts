import { beforeEach, describe, expect, it } from 'vitest';
import { digestSnapshot } from '../../../src/adapters/store/snapshot-digest.ts';
import { DecisionRecorder } from '../../../src/controllers/publication/decision-recorder.ts';
import { startEngine } from '../../../packages/placement/src/incremental-scheduler.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { type DecisionRecord, decidedText } from '../../../src/core/publish/record/decision-record.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { ONE_BOUND_SET } from '../../../packages/placement/test/snapshots.ts';

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
const SNAPSHOT: Snapshot = {
  now: '2026-03-01T12:00:00.000Z',
  placements: [placement('api', 'gold'), placement('web', 'silver')],
  clusters: [cluster('c1', 'gold'), cluster('c2', 'gold'), cluster('c3', 'silver')],
  ...ONE_BOUND_SET,
};
const [API, WEB] = SNAPSHOT.placements as [Placement, Placement];
/** `web` selects something else; `api` has nothing to do with it. */
const later = (step: number): Snapshot => ({
  ...SNAPSHOT,
  now: new Date(Date.parse(SNAPSHOT.now) + step * 1_000).toISOString(),
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
      lastCommitOf: () => undefined,
      inventoryRevision: () => 1,
      append: (record) => records.push(record),
    });
  });

  function pass(snapshot: Snapshot): Readonly<Record<'api' | 'web', ScheduleResult>> {
    const results = [...engine(snapshot)];
    for (const result of results) recorder.noteInputs(snapshot, result);
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
  /** What a fresh engine decides in the snapshot that the record names. */
  const replay = (snapshot: Snapshot, name: string): string =>
    [...startEngine()(snapshot)].filter((r) => r.placement.metadata.name === name).map(decidedText)[0] ?? '';

  it('names one snapshot for what is published while passes go on, and each record can be computed again from it', () => {
    const first = pass(SNAPSHOT);
    const web = record(first.web);
    const snapshot = later(1);
    const second = pass(snapshot);
    // Whether or not the engine hands out the same object again.
    expect(decidedText(second.api)).toBe(decidedText(first.api));
    expect(decidedText(second.web)).not.toBe(decidedText(first.web));
    const api = record(second.api);
    const webAgain = record(second.web);
    expect(web.inputs).toBe(digestSnapshot(SNAPSHOT).hash);
    expect(api.inputs).toBe(web.inputs);
    expect(webAgain.inputs).toBe(digestSnapshot(snapshot).hash);
    expect(replay(SNAPSHOT, 'web')).toBe(web.decided);
    expect(replay(SNAPSHOT, 'api')).toBe(api.decided);
    expect(replay(snapshot, 'web')).toBe(webAgain.decided);
    // What is recorded now follows from the newer snapshot as well.
    expect(record(second.api).inputs).toBe(webAgain.inputs);
  });

  it('names the snapshot of the spec that was decided on', () => {
    const generation = (step: number): Placement => ({
      ...WEB,
      metadata: { ...WEB.metadata, generation: step },
    });
    const snapshots = [1, 2].map(
      (step): Snapshot => ({ ...later(step), placements: [API, generation(step)] }),
    );
    const inputs = snapshots.map((snapshot) => record(pass(snapshot).web).inputs);
    expect(inputs).toEqual(snapshots.map((snapshot) => digestSnapshot(snapshot).hash));
  });

  it('does not record a result that no pass told of', () => {
    const [result] = [...engine(SNAPSHOT)];
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
