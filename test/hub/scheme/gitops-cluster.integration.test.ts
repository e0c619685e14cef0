import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GITOPS_CLUSTERS } from '../../../src/core/argocd/argocd-kinds.ts';
import { CUSTOM_RESOURCE_DEFINITION, type KindInfo, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';

const [PUSH, AGENT] = GITOPS_CLUSTERS as readonly [KindInfo, KindInfo];
const placementRef = { kind: 'Placement', name: 'fleet' };
const push = { argoServer: { argoNamespace: 'argocd' }, createBlankClusterSecrets: true, placementRef };
const manifest = {
  apiVersion: 'argoproj.io/v1beta1',
  kind: 'ArgoCD',
  metadata: { name: 'a' },
  spec: { x: 1 },
};
const agent = {
  argoCDAgentAddon: { mode: 'autonomous', argoCDCRManifestWork: { manifests: [manifest] } },
  placementRef,
};

const gitOpsCluster = ({ group, version }: KindInfo, name: string, spec: object): KubeObject => ({
  apiVersion: `${group}/${version}`,
  kind: 'GitOpsCluster',
  metadata: { name, namespace: 'argocd' },
  spec,
});

describe.each([
  ['the kind that the embedded hub has', false],
  ['the definition that berth argocd install writes', true],
])('GitOpsCluster: %s', (_, isDefined) => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  const get = (kind: KindInfo, name: string) => hub.api.get(kind, { namespace: 'argocd', name });
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
  });
  afterAll(() => hub.close());

  it.runIf(isDefined)('is accepted', async () => {
    const [crd] = ocmCrds(['apps.open-cluster-management.io']);
    const { metadata } = await hub.api.create(CUSTOM_RESOURCE_DEFINITION, crd as unknown as KubeObject);
    const conditions = async (): Promise<string> => {
      const found = await hub.api.get(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name: metadata.name });
      return JSON.stringify(found?.['status'] ?? '');
    };
    await expect.poll(conditions).toContain('"Established"');
  });

  it.each([
    ['push as v1beta1', PUSH, AGENT, push],
    ['push as v1alpha1', AGENT, PUSH, push],
    ['agent as v1alpha1', AGENT, PUSH, agent],
    ['agent as v1beta1', PUSH, AGENT, agent],
  ])('keeps every field in the other version: %s', async (text, kind, other, spec) => {
    const name = text.replaceAll(' ', '-');
    await hub.api.create(kind, gitOpsCluster(kind, name, spec));
    expect((await get(kind, name))?.['spec']).toEqual(spec);
    expect((await get(other, name))?.['spec']).toEqual(spec);
    const status = { phase: 'successful', message: 'done' };
    await hub.api.mergePatch(other, { namespace: 'argocd', name }, { status }, { subresource: 'status' });
    expect((await get(kind, name))?.['status']).toEqual(status);
  });

  it.each([
    ['neither push nor agent', { placementRef }, /either argoServer \(push\) or argoCDAgentAddon/],
    ['no placement', { argoServer: push.argoServer }, /placementRef/],
    ['an argoServer without a namespace', { argoServer: {}, placementRef }, /argoNamespace/],
  ])('refuses %s', async (_what, spec, message) => {
    await expect(hub.api.create(PUSH, gitOpsCluster(PUSH, 'bad', spec))).rejects.toThrow(message);
  });
});
