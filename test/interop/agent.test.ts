import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { AppliedManifestWork } from '@berth/ocm/kind/applied-manifest-work';
import { APPLIED_MANIFEST_WORK, kind } from '@berth/kube/model/kinds';
import { AgentBesideControllers } from '../agent/apply/agent-beside-controllers.ts';
import { fieldsThatOthersAdd } from '../agent/apply/added-field-scenarios.ts';
import { changedStrategies } from '../agent/apply/strategy-change-scenarios.ts';
import { createCrds } from './create-crds.ts';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

const RBAC = 'rbac.authorization.k8s.io';
const ACCOUNT = 'restricted-agent';

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('an agent on a real cluster', () => {
  let server: ControlPlane;
  let api: HttpKubeApi;
  beforeAll(async () => {
    server = await startControlPlane();
    await createCrds(server.client, ocmCrds());
    api = new HttpKubeApi({ config: loadKubeConfig({ file: server.kubeconfig }), clock: systemClock });
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  describe('with an account that may not touch Deployments', () => {
    const configMap = kind('', 'v1', 'ConfigMap', 'Namespaced');
    let restricted: HttpKubeApi;
    let agent: AgentBesideControllers;
    beforeAll(async () => {
      const role = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: ACCOUNT } };
      const rules = [
        { apiGroups: ['work.open-cluster-management.io'], resources: ['*'], verbs: ['*'] },
        { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['*'] },
      ];
      const path = `/apis/${RBAC}/v1`;
      await server.client.call('POST', `${path}/clusterroles`, { ...role, rules });
      await server.client.call('POST', `${path}/clusterrolebindings`, {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: ACCOUNT },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: ACCOUNT },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: ACCOUNT }],
      });
      restricted = new HttpKubeApi({
        config: loadKubeConfig({ file: server.kubeconfig }),
        clock: systemClock,
        impersonate: { user: ACCOUNT, groups: ['system:authenticated'] },
      });
    });
    afterEach(() => agent?.stop());
    afterAll(() => restricted?.close());

    it.each([
      { name: 'with-forbidden', removed: false },
      { name: 'without-forbidden', removed: true },
    ])('a work with a forbidden manifest can be deleted; it was removed before: $removed', async (given) => {
      agent = new AgentBesideControllers(api, given.name);
      await agent.makeNamespace();
      await agent.start({ cluster: restricted });
      const allowed = agent.object('v1', 'ConfigMap', { data: { a: '1' } });
      const forbidden = agent.object('apps/v1', 'Deployment', { spec: {} });
      await agent.apply([allowed, forbidden]);
      await expect.poll(() => agent.appliedCondition()).toBe('False');
      const said = (await agent.work())?.status?.resourceStatus?.manifests?.[1]?.conditions;
      expect(said?.find(({ type }) => type === 'Applied')?.message).toContain('forbidden');
      expect(await agent.read(configMap)).toMatchObject({ data: { a: '1' } });
      if (given.removed) {
        await agent.apply([allowed]);
        await expect.poll(() => agent.appliedCondition()).toBe('True');
      }
      await agent.deleteWork();
      await expect.poll(() => agent.work()).toBeUndefined();
      expect(await agent.read(configMap)).toBeUndefined();
      const applied = await api.list(APPLIED_MANIFEST_WORK);
      const left = applied.items as unknown as readonly AppliedManifestWork[];
      expect(left.filter(({ spec }) => spec.agentID === given.name)).toEqual([]);
    });
  });

  describe('fields that others add to the objects of a work', () => fieldsThatOthersAdd(() => api));

  describe('a work whose update strategy changes', () => changedStrategies(() => api));
});
