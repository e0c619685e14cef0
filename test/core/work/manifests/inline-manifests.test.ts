import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { inlineManifests } from '../../../../src/core/work/manifests/inline-manifests.ts';

const at = (file: string, object: KubeObject, line = 1): SourceObject => ({
  object,
  location: { file, line, column: 1 },
});
const manifest = (kind: string, name: string): KubeObject => ({ apiVersion: 'v1', kind, metadata: { name } });
const replicaSet = (folder: string, manifests: readonly KubeObject[] = []): KubeObject => ({
  apiVersion: 'work.open-cluster-management.io/v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  metadata: { name: 'web', namespace: 'team', annotations: { 'berth.dev/manifests': folder } },
  spec: { manifestWorkTemplate: { workload: { manifests } }, placementRefs: [{ name: 'all' }] },
});
const names = (object: KubeObject | undefined): readonly string[] => {
  const spec = object?.['spec'] as { manifestWorkTemplate: { workload: { manifests: KubeObject[] } } };
  return spec.manifestWorkTemplate.workload.manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
};

describe('inlineManifests', () => {
  it('fills a work from its folder, by kind, then file and line, behind what it holds itself', () => {
    const { objects, problems } = inlineManifests(
      [
        at('team/web.yaml', replicaSet('./apps/web/', [manifest('ConfigMap', 'own')])),
        at('apps/web/b.yaml', manifest('ConfigMap', 'b2'), 9),
        at('apps/web/b.yaml', manifest('ConfigMap', 'b1'), 1),
        at('apps/web/a/deploy.yaml', manifest('Deployment', 'a')),
        at('apps/web/z.yaml', manifest('Namespace', 'z')),
        at('apps/website/no.yaml', manifest('ConfigMap', 'elsewhere')),
      ],
      [],
    );
    expect(problems).toEqual([]);
    expect(names(objects[0]?.object)).toEqual([
      'ConfigMap own',
      'Namespace z',
      'ConfigMap b1',
      'ConfigMap b2',
      'Deployment a',
    ]);
    expect(objects.map(({ location }) => location.file)).toEqual(['team/web.yaml', 'apps/website/no.yaml']);
  });

  it.each([
    { name: 'an empty folder', folder: 'apps/none', code: 'work.manifests-empty' },
    { name: 'the root', folder: '/', code: 'work.manifests-folder' },
    { name: 'a way out', folder: 'apps/../..', code: 'work.manifests-folder' },
    { name: 'a hub object inside', folder: 'hub', code: 'work.manifests-hub-object' },
    { name: 'a broken file inside', folder: 'apps/broken', code: 'work.manifests-broken' },
  ])('$name is a problem, and the work is left out', ({ folder, code }) => {
    const placement = {
      ...manifest('Placement', 'p'),
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    };
    const { objects, problems } = inlineManifests(
      [
        at('team/web.yaml', replicaSet(folder)),
        at('hub/p.yaml', placement),
        at('apps/broken/good.yaml', manifest('ConfigMap', 'good')),
      ],
      [
        {
          severity: 'error',
          code: 'yaml.syntax',
          message: '',
          location: { file: 'apps/broken/bad.yaml', line: 1, column: 1 },
        },
      ],
    );
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(objects.some(({ object }) => object.kind === 'ManifestWorkReplicaSet')).toBe(false);
  });
});
