import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { findProgram } from '@berth/test-kit/needed-program';
import type { KubeObject } from '@berth/kube/model/object-meta';

const kubectl = findProgram('kubectl');

const objectsIn = (text: string): readonly KubeObject[] => loadAll(text) as readonly KubeObject[];
const titlesIn = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`).sort();

function built(folder: string): readonly KubeObject[] {
  return objectsIn(execFileSync(kubectl ?? '', ['kustomize', folder], { encoding: 'utf8' }));
}

describe.skipIf(kubectl === undefined)('kustomize builds', () => {
  it('the base as berth init writes it', () => {
    const written = objectsIn(readFileSync('deploy/kustomize/base/objects.yaml', 'utf8'));
    expect(titlesIn(built('deploy/kustomize/base'))).toEqual(titlesIn(written));
  });

  it('what runs beside OCM, with a volume that stays', () => {
    const objects = built('deploy/kustomize/beside-ocm');
    const deployment = objects.find(({ kind }) => kind === 'Deployment')?.['spec'] as {
      template: { spec: { volumes: readonly { name: string }[] } };
    };
    const data = deployment.template.spec.volumes.find(({ name }) => name === 'data');
    expect(data).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'berth' } });
    expect(titlesIn(objects)).toContain('PersistentVolumeClaim berth-system/berth');
  });

  it.each(['push', 'basic-pull', 'agent-pull'])('the overlay %s with Berth and Argo CD’s side', (overlay) => {
    const titles = titlesIn(built(`plugin/overlays/${overlay}`));
    for (const title of [
      'Deployment berth-system/berth',
      'ConfigMap argocd/berth',
      'ApplicationSet argocd/web',
    ])
      expect(titles).toContain(title);
  });
});
