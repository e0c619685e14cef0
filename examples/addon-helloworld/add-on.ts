import { bindRole, defineAddOn } from '@berth/addon';
import { hubClient, keepLease } from '@berth/addon/agent';
import type { RunningContainer } from '@berth/addon/testing';
import { Reflector } from '@berth/kube/cache/reflector';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG } from '@berth/runtime/logger';
import { DONE, ReconcileLoop } from '@berth/runtime/loop/reconciler';

export const IMAGE = process.env['EXAMPLE_IMAGE_NAME'] ?? 'example/helloworld:latest';
const NAME = 'helloworld';
const HUB_ACCESS = '/managed/hub-kubeconfig';
const RBAC = 'rbac.authorization.k8s.io';
/** On copies: the agent deletes nothing else. */
const COPIED = 'synced-from-hub';

/** Copies the ConfigMaps in the namespace of a cluster on the hub to the cluster. */
export const helloworld = defineAddOn({
  name: NAME,
  health: 'lease',
  registration: {
    configurations: [{ type: 'KubeClient' }],
    permissions: async (context) =>
      bindRole(context, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]),
  },
  manifests: async ({ installNamespace: namespace, values }) => {
    const name = `${NAME}-agent`;
    const account = `${name}-sa`;
    const labels = { app: name };
    const container = {
      ...{ name: 'agent', image: values['IMAGE'] ?? IMAGE, args: ['--agent', '--namespace', namespace] },
      volumeMounts: [{ name: 'hub-kubeconfig', mountPath: HUB_ACCESS }],
    };
    const pod = {
      ...{ serviceAccountName: account, containers: [container] },
      volumes: [{ name: 'hub-kubeconfig', secret: { secretName: `${NAME}-hub-kubeconfig` } }],
    };
    return [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: account } },
      {
        ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: `${NAME}-addon` } },
        rules: [
          { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch', 'delete'] },
          { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
        ],
      },
      {
        ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name: `${NAME}-addon` } },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: `${NAME}-addon` },
        subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
      },
      {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name } },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
      },
    ];
  },
});

export type AgentPod = Pick<RunningContainer, 'cluster' | 'namespace' | 'mounts' | 'signal'>;

/** What the container of the agent runs. @param addOn has the lease */
export async function runAgent(
  { cluster, namespace, mounts, signal }: AgentPod,
  addOn = NAME,
): Promise<void> {
  const secret = mounts[HUB_ACCESS];
  const from = secret === undefined ? { folder: HUB_ACCESS } : { cluster, ...secret };
  const { hub, clusterName = '' } = await hubClient({ from, signal });
  const shared = { clock: systemClock, random: Math.random, log: SILENT_LOG };
  const source = new Reflector({ ...shared, api: hub, kind: CONFIG_MAP, namespace: clusterName });
  const copy = async (key: string) => {
    const name = key.slice(key.indexOf('/') + 1);
    const found = source.store.get(key);
    const there = await cluster.get(CONFIG_MAP, { namespace, name });
    const isOurs = there === undefined || there.metadata.labels?.[COPIED] === 'true';
    const metadata = { namespace, name, labels: { [COPIED]: 'true' } };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: found?.['data'] };
    if (isOurs && found !== undefined)
      await cluster.apply(CONFIG_MAP, object, { fieldManager: addOn, force: true });
    else if (isOurs) await cluster.delete(CONFIG_MAP, metadata);
    return DONE;
  };
  const loop = new ReconcileLoop({ ...shared, name: 'copies', concurrency: 2, reconcile: copy });
  source.store.onChange(({ key }) => loop.add(key));
  await Promise.all([source.run(signal), keepLease({ cluster, namespace, name: addOn, signal })]);
  await loop.close();
}
