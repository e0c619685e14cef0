import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupByWave } from '../../../src/core/sync/desired-object.ts';
import {
  applySetId,
  applySetParent,
  memberKinds,
  parentOfSource,
  sourceOfParent,
} from '../../../src/core/sync/apply-set.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const object = (kind: string, name: string): KubeObject => ({
  apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name, namespace: 'team-a' },
});

describe('ApplySet', () => {
  it('has the id that kubectl computes: base64url of SHA-256, without padding', () => {
    const parent = parentOfSource('fleet');
    const sha = createHash('sha256').update('berth-fleet.berth-system.ConfigMap.').digest('base64url');
    expect(applySetId(digest, parent)).toBe(`applyset-${sha}-v1`);
  });

  it('has a parent that names its source', () => {
    expect(parentOfSource('fleet', 'here')).toEqual({ name: 'berth-fleet', namespace: 'here' });
    expect(sourceOfParent(parentOfSource('berth-a'))).toBe('berth-a');
    expect(sourceOfParent({ name: 'kubectl-fleet' })).toBeUndefined();
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
    expect(groupByWave(kinds.map((kind) => ({ kind }))).map((wave) => wave.map(({ kind }) => kind))).toEqual([
      ['Namespace'],
      ['ManagedClusterSet'],
      ['ManagedCluster'],
      ['Placement'],
      ['ManifestWorkReplicaSet'],
    ]);
  });
});
