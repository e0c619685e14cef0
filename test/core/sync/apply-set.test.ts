import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/core/model/object-meta.ts';
import { refOf } from '../../../src/core/model/object-ref.ts';
import { inWaves } from '../../../src/core/sync/apply-order.ts';
import { applySetId, applySetParent, memberKinds } from '../../../src/core/sync/apply-set.ts';
import { identityOf, planPrune, type PruneInput } from '../../../src/core/sync/plan-prune.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const object = (kind: string, name: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name, namespace: 'team-a', annotations },
});

describe('ApplySet', () => {
  it('has the id that kubectl computes: base64url of SHA-256, without padding', () => {
    const parent = { name: 'berth-fleet', namespace: 'berth-system' };
    const sha = createHash('sha256').update('berth-fleet.berth-system.ConfigMap.').digest('base64url');
    expect(applySetId(digest, parent)).toBe(`applyset-${sha}-v1`);
  });

  it('names the kinds and namespaces of its members', () => {
    const parent = applySetParent({ name: 'p', namespace: 'sys' }, 'id', [
      object('Deployment', 'a'),
      object('Secret', 'b'),
      object('Secret', 'c'),
    ]);
    expect(parent.metadata.annotations).toMatchObject({
      'applyset.kubernetes.io/contains-group-kinds': 'Deployment.apps,Secret',
      'applyset.kubernetes.io/additional-namespaces': 'team-a',
      'applyset.kubernetes.io/tooling': 'berth/v1',
    });
    expect(memberKinds(parent)).toEqual([
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { apiVersion: 'v1', kind: 'Secret' },
    ]);
    expect(memberKinds(undefined)).toEqual([]);
  });

  it('applies what others need first', () => {
    const kinds = ['ManifestWorkReplicaSet', 'Placement', 'Namespace', 'ManagedCluster', 'ManagedClusterSet'];
    expect(inWaves(kinds.map((kind) => ({ kind }))).map((wave) => wave.map(({ kind }) => kind))).toEqual([
      ['Namespace'],
      ['ManagedClusterSet'],
      ['ManagedCluster'],
      ['Placement'],
      ['ManifestWorkReplicaSet'],
    ]);
  });
});

describe('planPrune', () => {
  const members = Array.from({ length: 12 }, (_, i) => object('ConfigMap', `c${i}`));
  const input = (over: Partial<PruneInput>): PruneInput => ({
    source: 'fleet',
    members,
    wanted: new Set(),
    complete: true,
    budget: { percent: 25, atLeast: 2 },
    releasedTokens: [],
    digest,
    ...over,
  });
  const wanting = (...kept: KubeObject[]) => new Set(kept.map((entry) => identityOf(refOf(entry))));

  it('deletes what left Git', () => {
    expect(planPrune(input({ wanted: wanting(...members.slice(3)) }))).toMatchObject({
      kind: 'prune',
      objects: members.slice(0, 3),
    });
  });

  it('does not care for the version in Git', () => {
    const moved = { ...members[0]!, apiVersion: 'v2' };
    expect(planPrune(input({ members: [members[0]!], wanted: wanting(moved) }))).toMatchObject({
      kind: 'prune',
      objects: [],
    });
  });

  it('holds more than the budget until a release names exactly this', () => {
    const wanted = wanting(...members.slice(4));
    const held = planPrune(input({ wanted }));
    expect(held).toMatchObject({
      kind: 'held',
      message: expect.stringContaining('4 of 12 objects left Git (budget 3)') as string,
    });
    const token = held.kind === 'held' ? held.token : '';
    expect(planPrune(input({ wanted, releasedTokens: ['ffffffffffff', token] })).kind).toBe('prune');
    expect(planPrune(input({ wanted: wanting(...members.slice(5)), releasedTokens: [token] })).kind).toBe(
      'held',
    );
  });

  it('deletes nothing while a file could not be read', () => {
    expect(planPrune(input({ wanted: wanting(...members.slice(1)), complete: false })).kind).toBe(
      'suspended',
    );
  });

  it.each([
    { kind: 'ConfigMap', annotations: {}, pruned: true },
    { kind: 'ConfigMap', annotations: { 'berth.dev/prune': 'disabled' }, pruned: false },
    { kind: 'ConfigMap', annotations: { 'berth.dev/prune': 'enabled' }, pruned: true },
    // Meant to keep it, most likely.
    { kind: 'ConfigMap', annotations: { 'berth.dev/prune': 'false' }, pruned: false },
    { kind: 'Namespace', annotations: {}, pruned: false },
    { kind: 'Namespace', annotations: { 'berth.dev/prune': 'enabled' }, pruned: true },
    { kind: 'CustomResourceDefinition', annotations: {}, pruned: false },
  ])('$kind with $annotations is pruned: $pruned', ({ kind, annotations, pruned }) => {
    const plan = planPrune(input({ members: [object(kind, 'x', annotations)] }));
    expect(plan.kind === 'prune' && plan.objects.length === 1).toBe(pruned);
  });
});
