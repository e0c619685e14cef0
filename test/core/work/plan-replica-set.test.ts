import { describe, expect, it } from 'vitest';
import { childWorkName, ownerLabelValue } from '../../../src/core/work/replica-set/replica-set-child.ts';
import { ReplicaSetHarness, template } from './replica-set-harness.ts';

const APPLIED = { Applied: 'True', Available: 'True' } as const;
const progressive = (config: object): object => ({ type: 'Progressive', progressive: config });

describe('planReplicaSet', () => {
  it('creates a work for each selected cluster, once', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2', 'c3']);
    expect(harness.step()).toEqual(['create c1 all', 'create c2 all', 'create c3 all']);
    expect(harness.step()).toEqual([]);
  });

  it('deletes the work of a cluster that left', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2']);
    harness.step();
    expect(harness.place('all', ['c2']).step()).toEqual(['delete c1 all']);
  });

  it.each([
    { name: 'all at once', strategy: undefined },
    { name: 'one after the other', strategy: progressive({ maxConcurrency: 1 }) },
  ])(
    'makes no work for a cluster that is being deleted, and goes on with the others: $name',
    ({ strategy }) => {
      const harness = new ReplicaSetHarness().place('all', ['c1', 'c2'], strategy);
      harness.going.add('c1');
      expect(harness.step()).toEqual(['create c2 all']);
      expect(harness.step()).toEqual([]);
      harness.report(['c2'], APPLIED);
      expect(harness.status()['PlacementRolledOut']).toBe('True Complete');
      expect(harness.message('PlacementRolledOut')).toContain(
        'no work is made for clusters that are being deleted or do not exist: c1',
      );
    },
  );

  it('leaves the works of a cluster that is being deleted as they are, until the decision removes it', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2']);
    harness.step();
    harness.going.add('c1');
    harness.spec = template('2');
    expect(harness.step()).toEqual(['update c2 all']);
    expect(harness.place('all', ['c2']).step()).toEqual(['delete c1 all']);
  });

  it('deletes the work of a cluster that left while the template changed', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2']);
    harness.step();
    harness.spec = template('2');
    expect(harness.place('all', ['c2']).step()).toEqual(['update c2 all', 'delete c1 all']);
  });

  it('gives two placements that select the same cluster a work each', () => {
    const harness = new ReplicaSetHarness().place('a', ['c1']).place('b', ['c1']);
    expect(harness.step()).toEqual(['create c1 a', 'create c1 b']);
    expect(new Set(harness.works.map(({ metadata }) => metadata.name)).size).toBe(2);
    expect(harness.step()).toEqual([]);
  });

  it('moves to the works of another placement: the old one goes when the new one has been applied there', () => {
    const harness = new ReplicaSetHarness().place('a', ['c1', 'c3']);
    harness.step();
    harness.refs = [];
    expect(harness.place('b', ['c1', 'c2']).step().sort()).toEqual([
      'create c1 b',
      'create c2 b',
      'delete c3 a',
    ]);
    expect(harness.step()).toEqual([]);
    expect(harness.report(['c1', 'c2'], APPLIED).step()).toEqual(['delete c1 a']);
  });

  it('keeps the work of a placement that is not referenced any more where the new one gets no work', () => {
    const harness = new ReplicaSetHarness().place('a', ['c1', 'c2']);
    harness.step();
    harness.refs = [];
    harness.going.add('c1');
    expect(harness.place('b', ['c1']).step()).toEqual(['delete c2 a']);
    expect(harness.step()).toEqual([]);
  });

  it('keeps the works of a placement that is not referenced any more while the new reference leads nowhere', () => {
    const harness = new ReplicaSetHarness().place('a', ['c1']);
    harness.step();
    harness.refs = [{ name: 'tpyo' }];
    expect(harness.step()).toEqual([]);
    expect(harness.status()['PlacementVerified']).toBe('False PlacementDecisionNotFound');
  });

  it.each([
    { name: 'its placement is missing', change: (w: ReplicaSetHarness) => void w.placements.delete('all') },
    {
      name: 'its placement was never scheduled',
      change: (w: ReplicaSetHarness) => {
        w.place('all', []);
        w.placements.set('all', { ...w.placements.get('all'), status: {} } as never);
      },
    },
    {
      name: 'decisions are still being written',
      change: (w: ReplicaSetHarness) => void w.decisions.set('all', []),
    },
    {
      name: 'a decision has a broken group label',
      change: (w: ReplicaSetHarness) => {
        const decisions = w.place('all', []).decisions.get('all') ?? [];
        const broken = decisions.map((d) => ({ ...d, metadata: { ...d.metadata, labels: {} } }));
        w.decisions.set('all', broken);
      },
    },
  ])('removes nothing when $name', ({ change }) => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2']);
    harness.step();
    change(harness);
    expect(harness.step()).toEqual([]);
    expect(harness.status()['PlacementRolledOut']).toBe('False Progressing');
  });

  it('goes on with the other placements when one is missing', () => {
    const harness = new ReplicaSetHarness().place('gone', ['c1']).place('all', ['c2']);
    harness.placements.delete('gone');
    expect(harness.step()).toEqual(['create c2 all']);
    expect(harness.status()['PlacementVerified']).toBe('False PlacementDecisionNotFound');
  });

  it('brings label changes to works at once, outside of any rollout', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1'], progressive({ maxConcurrency: 1 }));
    harness.step();
    harness.labels = { team: 'a' };
    expect(harness.step()).toEqual(['update c1 all']);
    expect(harness.works[0]?.metadata.labels?.['team']).toBe('a');
    expect(harness.works[0]?.metadata.generation).toBe(1);
  });

  it('keeps labels to itself by which other tools find what they may prune', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1']);
    harness.labels = {
      'applyset.kubernetes.io/part-of': 'x',
      'app.kubernetes.io/instance': 'app',
      'argocd.argoproj.io/instance': 'app',
      'kustomize.toolkit.fluxcd.io/name': 'fleet',
      'app.kubernetes.io/name': 'web',
    };
    harness.step();
    expect(Object.keys(harness.works[0]?.metadata.labels ?? {}).sort()).toEqual([
      'app.kubernetes.io/name',
      'work.open-cluster-management.io/manifestworkreplicaset',
      'work.open-cluster-management.io/placementname',
    ]);
  });

  it('rolls out two at a time as works become available', () => {
    const harness = new ReplicaSetHarness().place(
      'all',
      ['c1', 'c2', 'c3', 'c4', 'c5'],
      progressive({ maxConcurrency: 2 }),
    );
    expect(harness.step()).toEqual(['create c1 all', 'create c2 all']);
    expect(harness.step()).toEqual([]);
    expect(harness.report(['c1', 'c2'], APPLIED).step()).toEqual(['create c3 all', 'create c4 all']);
    expect(harness.status()['PlacementRolledOut']).toBe('False Progressing');
    expect(harness.report(['c3', 'c4'], APPLIED).step()).toEqual(['create c5 all']);
    harness.report(['c5'], APPLIED);
    expect(harness.status()).toEqual({
      PlacementVerified: 'True AsExpected',
      PlacementRolledOut: 'True Complete',
      ManifestworkApplied: 'True AsExpected',
    });
  });

  it('starts no staged rollout while decisions are still being written: a mandatory group may be missing', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2'], progressive({ maxConcurrency: 1 }));
    harness.placements.set('all', {
      ...harness.placements.get('all'),
      status: { numberOfSelectedClusters: 3 },
    } as never);
    expect(harness.step()).toEqual([]);
    harness.place('all', ['c0', 'c1', 'c2']);
    expect(harness.step()).toEqual(['create c0 all']);
  });

  it('stops when a cluster refuses the new content, and leaves the others on the old', () => {
    const harness = new ReplicaSetHarness().place(
      'all',
      ['c1', 'c2', 'c3'],
      progressive({ maxConcurrency: 1 }),
    );
    for (const cluster of ['c1', 'c2', 'c3']) {
      harness.step();
      harness.report([cluster], APPLIED);
    }
    harness.spec = template('2');
    expect(harness.step()).toEqual(['update c1 all']);
    expect(harness.report(['c1'], { Applied: 'False' }).step()).toEqual([]);
    expect(harness.works.map(({ spec }) => spec?.workload?.manifests?.[0]?.['data'])).toEqual([
      { value: '2' },
      { value: '1' },
      { value: '1' },
    ]);
    expect(harness.status()['PlacementRolledOut']).toBe('False Progressing');
  });

  it('never moves past the first batch under upstream rules without a Progressing rule', () => {
    const harness = new ReplicaSetHarness().place(
      'all',
      ['c1', 'c2', 'c3'],
      progressive({ maxConcurrency: 1 }),
    );
    harness.rules = 'upstream';
    harness.step();
    harness.report(['c1'], APPLIED);
    expect(harness.plan().actions.map(({ type }) => type)).toEqual(['update']);
    harness.report(['c1'], { ...APPLIED, Progressing: 'False' });
    expect(harness.step()).toEqual(['create c2 all']);
  });

  it('starts nothing while paused, but still cleans up', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1', 'c2']);
    harness.step();
    harness.paused = true;
    harness.spec = template('2');
    expect(harness.place('all', ['c1', 'c3']).step()).toEqual(['delete c2 all']);
  });

  it('removes a second work for the same part', () => {
    const harness = new ReplicaSetHarness().place('all', ['c1']);
    harness.step();
    const [first] = harness.works;
    if (first !== undefined)
      harness.works.push({
        ...first,
        metadata: { ...first.metadata, name: 'web-random', creationTimestamp: '2026-03-01T12:30:00Z' },
      });
    expect(harness.step()).toEqual(['delete c1 all']);
    expect(harness.works.map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
  });
});

describe('names', () => {
  it('keeps the owner label within the limits of labels', () => {
    expect(ownerLabelValue({ namespace: 'team', name: 'a.b' })).toBe('team.a.b');
    const long = ownerLabelValue({ namespace: 'n'.repeat(40), name: 'x'.repeat(60) });
    expect(long.length).toBeLessThanOrEqual(63);
    expect(ownerLabelValue({ namespace: 'n'.repeat(40), name: `${'x'.repeat(59)}y` })).not.toBe(long);
  });

  it('keeps work names within what an AppliedManifestWork can carry', () => {
    const name = childWorkName({ namespace: 'team', name: 'x'.repeat(250) }, 'placement', 3);
    expect(name.length).toBeLessThanOrEqual(188);
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
  });
});
