import { describe, expect, it } from 'vitest';
import { childWorkName, ownerLabelValue } from '../../../src/core/work/replica-set/replica-set-names.ts';
import { ReplicaSetWorld, template } from './replica-set-world.ts';

const APPLIED = { Applied: 'True', Available: 'True' } as const;
const progressive = (config: object): object => ({ type: 'Progressive', progressive: config });

describe('planReplicaSet', () => {
  it('creates a work for each selected cluster, once', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2', 'c3']);
    expect(world.step()).toEqual(['create c1 all', 'create c2 all', 'create c3 all']);
    expect(world.step()).toEqual([]);
  });

  it('deletes the work of a cluster that left', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2']);
    world.step();
    expect(world.place('all', ['c2']).step()).toEqual(['delete c1 all']);
  });

  it('deletes the work of a cluster that left while the template changed', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2']);
    world.step();
    world.spec = template('2');
    expect(world.place('all', ['c2']).step()).toEqual(['update c2 all', 'delete c1 all']);
  });

  it('gives two placements that select the same cluster a work each', () => {
    const world = new ReplicaSetWorld().place('a', ['c1']).place('b', ['c1']);
    expect(world.step()).toEqual(['create c1 a', 'create c1 b']);
    expect(new Set(world.works.map(({ metadata }) => metadata.name)).size).toBe(2);
    expect(world.step()).toEqual([]);
  });

  it('moves to the works of another placement: the old one goes when the new one has been applied there', () => {
    const world = new ReplicaSetWorld().place('a', ['c1', 'c3']);
    world.step();
    world.refs = [];
    expect(world.place('b', ['c1', 'c2']).step().sort()).toEqual([
      'create c1 b',
      'create c2 b',
      'delete c3 a',
    ]);
    expect(world.step()).toEqual([]);
    expect(world.report(['c1', 'c2'], APPLIED).step()).toEqual(['delete c1 a']);
  });

  it('keeps the works of a placement that is not referenced any more while the new reference leads nowhere', () => {
    const world = new ReplicaSetWorld().place('a', ['c1']);
    world.step();
    world.refs = [{ name: 'tpyo' }];
    expect(world.step()).toEqual([]);
    expect(world.status()['PlacementVerified']).toBe('False PlacementDecisionNotFound');
  });

  it.each([
    { name: 'its placement is missing', change: (w: ReplicaSetWorld) => void w.placements.delete('all') },
    {
      name: 'its placement was never scheduled',
      change: (w: ReplicaSetWorld) => {
        w.place('all', []);
        w.placements.set('all', { ...w.placements.get('all'), status: {} } as never);
      },
    },
    {
      name: 'decisions are still being written',
      change: (w: ReplicaSetWorld) => void w.decisions.set('all', []),
    },
    {
      name: 'a decision has a broken group label',
      change: (w: ReplicaSetWorld) => {
        const decisions = w.place('all', []).decisions.get('all') ?? [];
        const broken = decisions.map((d) => ({ ...d, metadata: { ...d.metadata, labels: {} } }));
        w.decisions.set('all', broken);
      },
    },
  ])('removes nothing when $name', ({ change }) => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2']);
    world.step();
    change(world);
    expect(world.step()).toEqual([]);
    expect(world.status()['PlacementRolledOut']).toBe('False Progressing');
  });

  it('goes on with the other placements when one is missing', () => {
    const world = new ReplicaSetWorld().place('gone', ['c1']).place('all', ['c2']);
    world.placements.delete('gone');
    expect(world.step()).toEqual(['create c2 all']);
    expect(world.status()['PlacementVerified']).toBe('False PlacementDecisionNotFound');
  });

  it('brings label changes to works at once, outside of any rollout', () => {
    const world = new ReplicaSetWorld().place('all', ['c1'], progressive({ maxConcurrency: 1 }));
    world.step();
    world.labels = { team: 'a' };
    expect(world.step()).toEqual(['update c1 all']);
    expect(world.works[0]?.metadata.labels?.['team']).toBe('a');
    expect(world.works[0]?.metadata.generation).toBe(1);
  });

  it('keeps labels to itself by which other tools find what they may prune', () => {
    const world = new ReplicaSetWorld().place('all', ['c1']);
    world.labels = {
      'applyset.kubernetes.io/part-of': 'x',
      'app.kubernetes.io/instance': 'app',
      'argocd.argoproj.io/instance': 'app',
      'kustomize.toolkit.fluxcd.io/name': 'fleet',
      'app.kubernetes.io/name': 'web',
    };
    world.step();
    expect(Object.keys(world.works[0]?.metadata.labels ?? {}).sort()).toEqual([
      'app.kubernetes.io/name',
      'work.open-cluster-management.io/manifestworkreplicaset',
      'work.open-cluster-management.io/placementname',
    ]);
  });

  it('rolls out two at a time as works become available', () => {
    const world = new ReplicaSetWorld().place(
      'all',
      ['c1', 'c2', 'c3', 'c4', 'c5'],
      progressive({ maxConcurrency: 2 }),
    );
    expect(world.step()).toEqual(['create c1 all', 'create c2 all']);
    expect(world.step()).toEqual([]);
    expect(world.report(['c1', 'c2'], APPLIED).step()).toEqual(['create c3 all', 'create c4 all']);
    expect(world.status()['PlacementRolledOut']).toBe('False Progressing');
    expect(world.report(['c3', 'c4'], APPLIED).step()).toEqual(['create c5 all']);
    world.report(['c5'], APPLIED);
    expect(world.status()).toEqual({
      PlacementVerified: 'True AsExpected',
      PlacementRolledOut: 'True Complete',
      ManifestworkApplied: 'True AsExpected',
    });
  });

  it('starts no staged rollout while decisions are still being written: a mandatory group may be missing', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2'], progressive({ maxConcurrency: 1 }));
    world.placements.set('all', {
      ...world.placements.get('all'),
      status: { numberOfSelectedClusters: 3 },
    } as never);
    expect(world.step()).toEqual([]);
    world.place('all', ['c0', 'c1', 'c2']);
    expect(world.step()).toEqual(['create c0 all']);
  });

  it('stops when a cluster refuses the new content, and leaves the others on the old', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2', 'c3'], progressive({ maxConcurrency: 1 }));
    for (const cluster of ['c1', 'c2', 'c3']) {
      world.step();
      world.report([cluster], APPLIED);
    }
    world.spec = template('2');
    expect(world.step()).toEqual(['update c1 all']);
    expect(world.report(['c1'], { Applied: 'False' }).step()).toEqual([]);
    expect(world.works.map(({ spec }) => spec?.workload?.manifests?.[0]?.['data'])).toEqual([
      { value: '2' },
      { value: '1' },
      { value: '1' },
    ]);
    expect(world.status()['PlacementRolledOut']).toBe('False Progressing');
  });

  it('never moves past the first batch under upstream rules without a Progressing rule', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2', 'c3'], progressive({ maxConcurrency: 1 }));
    world.rules = 'upstream';
    world.step();
    world.report(['c1'], APPLIED);
    expect(world.plan().actions.map(({ type }) => type)).toEqual(['update']);
    world.report(['c1'], { ...APPLIED, Progressing: 'False' });
    expect(world.step()).toEqual(['create c2 all']);
  });

  it('starts nothing while paused, but still cleans up', () => {
    const world = new ReplicaSetWorld().place('all', ['c1', 'c2']);
    world.step();
    world.paused = true;
    world.spec = template('2');
    expect(world.place('all', ['c1', 'c3']).step()).toEqual(['delete c2 all']);
  });

  it('removes a second work for the same part', () => {
    const world = new ReplicaSetWorld().place('all', ['c1']);
    world.step();
    const [first] = world.works;
    if (first !== undefined)
      world.works.push({
        ...first,
        metadata: { ...first.metadata, name: 'web-random', creationTimestamp: '2026-03-01T12:30:00Z' },
      });
    expect(world.step()).toEqual(['delete c1 all']);
    expect(world.works.map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
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
