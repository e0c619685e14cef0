import { hubObjects } from '@berth/access/addon/hub-objects';
import { kind, NAMESPACE } from '@berth/kube/model/kinds';
import type { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { expect, it } from 'vitest';
import { withAccess } from './access-world.ts';
import { asAccount } from './account-world.ts';

const SYSTEM = 'open-cluster-management-hub';
const REVIEW = kind('authorization.k8s.io', 'v1', 'SelfSubjectAccessReview', 'Cluster');

/** The hub, as the account of the installed manager. */
async function asManager(hub: KubeApi, kubeconfig: string): Promise<HttpKubeApi> {
  const values = {
    namespace: SYSTEM,
    image: 'example/berth:latest',
    publicUrl: 'https://x:1',
    agentAddress: 'x:2',
    replicas: 1,
  };
  if ((await hub.get(NAMESPACE, { namespace: '', name: SYSTEM })) === undefined)
    await hub.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } });
  for (const object of hubObjects(values)) {
    const found = await hub.resolve(object.apiVersion, object.kind);
    if (found !== undefined) await hub.apply(found, object, { fieldManager: 'test' });
  }
  return (await asAccount(hub, { namespace: SYSTEM, name: 'cluster-proxy' }, kubeconfig)).api;
}

it('the rights that are installed are enough to serve, and are no more', async () => {
  await withAccess(
    async ({ ask, hubToken, whenOpen }) => {
      await whenOpen('cluster1', await hubToken('alice'));
      expect((await ask('/cluster1/api/v1/nodes', { token: await hubToken('alice') })).status).toBe(403);
    },
    ['cluster1'],
    {
      connect: async (hub, kubeconfig) => {
        const manager = await asManager(hub, kubeconfig);
        for (const resourceAttributes of [
          { verb: 'get', resource: 'secrets', namespace: 'kube-system' },
          { verb: 'impersonate', resource: 'users' },
          { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
        ]) {
          const review = {
            apiVersion: 'authorization.k8s.io/v1',
            kind: REVIEW.kind,
            metadata: { name: '' },
            spec: { resourceAttributes },
          };
          expect((await manager.create(REVIEW, review))['status']).toMatchObject({ allowed: false });
        }
        return manager;
      },
    },
  );
});
