import { gatewayHubObjects } from '@berth/access/addon/cluster-gateway';
import { startGateway } from '@berth/access/gateway/run-gateway';
import { withHub } from '@berth/addon/testing';
import { kind, MANAGED_CLUSTER_ADDON, ROLE, ROLE_BINDING, SECRET } from '@berth/kube/model/kinds';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { expect, it } from 'vitest';
import { boundRole } from '../src/addon/pod-process.ts';
import { MANAGED_SERVICE_ACCOUNT } from '../src/addon/managed-serviceaccount.ts';
import { CLUSTER_GATEWAY } from '../src/rules/cluster-gateway.ts';
import { namespace } from './access-world.ts';
import { asAccount } from './account-world.ts';
import { gatewaySecret } from './gateway-path.ts';

const SYSTEM = 'open-cluster-management-hub';
const REVIEW = kind('authorization.k8s.io', 'v1', 'SelfSubjectAccessReview', 'Cluster');

it('the rights that are installed are enough to serve, and are no more', async () => {
  await withHub(
    async ({ hub, kubeconfigs, run, waitFor }) => {
      await namespace(hub, SYSTEM);
      for (const object of gatewayHubObjects({ namespace: SYSTEM, image: 'example/berth:latest' })) {
        const found = await hub.resolve(object.apiVersion, object.kind);
        if (found !== undefined) await hub.apply(found, object, { fieldManager: 'test' });
      }
      // In a pod the Service is the installed one. Here it is written for this process.
      const rules = [{ apiGroups: [''], resources: ['services'], verbs: ['create', 'patch'] }];
      const subjects = [{ kind: 'ServiceAccount', namespace: SYSTEM, name: 'cluster-gateway' }];
      for (const object of boundRole({ namespace: SYSTEM, name: 'writes-service' }, { rules, subjects }))
        await hub.create(object.kind === ROLE.kind ? ROLE : ROLE_BINDING, object);
      const account = await asAccount(hub, { namespace: SYSTEM, name: 'cluster-gateway' }, kubeconfigs.hub);
      const log = new SilentLogger();
      run(async (signal) => {
        const { ended } = await startGateway({
          ...{ hub: account.api, namespace: SYSTEM, secretNamespace: 'open-cluster-management-credentials' },
          ...{ listen: { host: '127.0.0.1', port: 0 } },
          ...{ impersonate: false, authorize: true, clock, random: Math.random, log, signal },
        });
        await ended;
        account.api.close();
      });
      const addOn = { namespace: 'cluster1', name: 'cluster-gateway' };
      await hub.create(MANAGED_CLUSTER_ADDON, {
        ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
        ...{ metadata: addOn, spec: {} },
      });
      const text = async () => JSON.stringify(await hub.get(MANAGED_CLUSTER_ADDON, addOn));
      await waitFor(async () => (await text()).includes('has not brought a token of cluster cluster1'));
      expect(await hub.get(MANAGED_SERVICE_ACCOUNT, addOn)).toMatchObject({
        metadata: { ownerReferences: [{ kind: 'ManagedClusterAddOn', name: 'cluster-gateway' }] },
      });
      expect(await text()).toContain('RegistrationApplied');
      const { data } = gatewaySecret('', { token: 't' });
      const labels = { 'authentication.open-cluster-management.io/is-managed-serviceaccount': 'true' };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...addOn, labels }, data };
      await hub.create(SECRET, secret);
      await waitFor(async () => (await text()).includes('where the user server is'));
      const gateway = { namespace: '', name: 'cluster1' };
      const found = await waitFor(() => hub.get(CLUSTER_GATEWAY, gateway));
      expect(found['status']).toMatchObject({
        healthy: false,
        healthyReason: expect.stringContaining('user server'),
      });
      for (const resourceAttributes of [
        { verb: 'list', resource: 'secrets' },
        { verb: 'get', resource: 'secrets', namespace: 'kube-system' },
        { verb: 'get', resource: 'secrets', namespace: SYSTEM, name: 'cluster-proxy-authority' },
        { verb: 'list', resource: 'secrets', namespace: 'cluster1', name: 'other' },
        { verb: 'create', resource: 'secrets', namespace: 'cluster1' },
        { verb: 'impersonate', resource: 'users' },
        { verb: 'create', group: 'apiregistration.k8s.io', resource: 'apiservices' },
        { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
      ]) {
        const review = { apiVersion: 'authorization.k8s.io/v1', kind: REVIEW.kind, metadata: { name: '' } };
        const answer = await account.api.create(REVIEW, { ...review, spec: { resourceAttributes } });
        expect(answer['status']).toMatchObject({ allowed: false });
      }
    },
    { clusters: ['cluster1'], patienceMs: PATIENCE_MS },
  );
});
