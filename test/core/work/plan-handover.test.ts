import { describe, expect, it } from 'vitest';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { ReplicaSetHarness } from './replica-set-harness.ts';

const APPLIED = { Applied: 'True', Available: 'True' } as const;

function spec(...names: readonly string[]): ManifestWorkSpec {
  const manifests = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  }));
  return { workload: { manifests } };
}

/** `cluster part: names` of every work. */
function contents(harness: ReplicaSetHarness): readonly string[] {
  return harness.works
    .map(({ metadata, spec: held }) => {
      const names = (held?.workload?.manifests ?? []).map((manifest) => manifest.metadata.name);
      return `${metadata.namespace} ${metadata.labels?.['berth.dev/part'] ?? 0}: ${names.join(' ')}`;
    })
    .sort();
}

/** Two clusters, one at a time, with `a b` in one work and `c` in the next; then `b` belongs to the next. */
function cutElsewhere(): ReplicaSetHarness {
  const harness = new ReplicaSetHarness().place('all', ['c1', 'c2'], {
    type: 'Progressive',
    progressive: { maxConcurrency: 1 },
  });
  harness.specs = [spec('a', 'b'), spec('c')];
  for (const cluster of ['c1', 'c2']) {
    harness.step();
    harness.report([cluster], APPLIED);
  }
  harness.specs = [spec('a'), spec('b', 'c')];
  return harness;
}

describe('a manifest that changes its work', () => {
  it('goes over a bridge, step by step as the cluster confirms', () => {
    const harness = cutElsewhere();
    const old = ['c1 0: a b', 'c1 1: c'];
    const others = ['c2 0: a b', 'c2 1: c'];
    harness.step();
    expect(contents(harness)).toEqual([...old, 'c1 1000: b', ...others].sort());
    harness.step();
    expect(contents(harness)).toEqual([...old, 'c1 1000: b', ...others].sort());
    harness.report(['c1'], APPLIED).step();
    expect(contents(harness)).toEqual(['c1 0: a', 'c1 1000: b', 'c1 1: b c', ...others].sort());
    harness.step();
    expect(contents(harness)).toContain('c1 1000: b');
    harness.report(['c1'], APPLIED).step();
    expect(contents(harness)).toEqual(['c1 0: a', 'c1 1: b c', ...others].sort());
  });

  it('keeps its place in the rollout, and is not left halfway by a pause', () => {
    const harness = cutElsewhere();
    harness.step();
    harness.paused = true;
    for (let round = 0; round < 3; round++) harness.report(['c1'], APPLIED).step();
    const [first, second, ...rest] = contents(harness);
    expect([first, second]).toEqual(['c1 0: a', 'c1 1: b c']);
    expect(rest).toEqual(['c2 0: a b', 'c2 1: c']);
    harness.paused = false;
    harness.step();
    expect(contents(harness)).toContain('c2 1000: b');
  });

  it('counts as a failure of the cluster when the bridge is refused, and nothing is taken away', () => {
    const harness = cutElsewhere();
    harness.step();
    harness.report(['c1'], { Applied: 'False' }).step();
    expect(contents(harness)).toEqual(['c1 0: a b', 'c1 1000: b', 'c1 1: c', 'c2 0: a b', 'c2 1: c']);
    expect(harness.status()).toMatchObject({ PlacementRolledOut: 'False Progressing' });
    expect(harness.plan().placements[0]).toMatchObject({ failed: ['c1'], maxFailureBreach: true });
  });

  it('stays on its bridge when the template changes again meanwhile', () => {
    const harness = cutElsewhere();
    harness.step();
    harness.report(['c1'], APPLIED).step();
    harness.specs = [spec('a'), spec('c'), spec('b')];
    harness.step();
    expect(contents(harness).filter((text) => text.startsWith('c1') && text.includes('b'))).toContain(
      'c1 1000: b',
    );
    for (let round = 0; round < 4; round++) harness.report(['c1'], APPLIED).step();
    expect(contents(harness).filter((text) => text.startsWith('c1'))).toEqual([
      'c1 0: a',
      'c1 1: c',
      'c1 2: b',
    ]);
  });

  it('needs no bridge when it leaves the template, or when nothing is spread', () => {
    const harness = cutElsewhere();
    harness.specs = [spec('a'), spec('c')];
    harness.step();
    expect(contents(harness).slice(0, 2)).toEqual(['c1 0: a', 'c1 1: c']);
  });
});
