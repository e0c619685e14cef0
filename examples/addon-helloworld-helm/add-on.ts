import { join } from 'node:path';
import { bindRole, defineAddOn } from '@berth/addon';
import { hubClient, keepLease } from '@berth/addon/agent';
import { helmChart } from '@berth/addon/helm-chart';
import type { RunningContainer } from '@berth/addon/testing';
import { Reflector } from '@berth/kube/cache/reflector';
import { ADDON_DEPLOYMENT_CONFIG, CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG } from '@berth/runtime/logger';

const CHART = join(import.meta.dirname, 'chart');
const HUB_ACCESS = '/managed/hub-kubeconfig';
/** Every namespace has this ConfigMap of its own. */
const OWN = 'kube-root-ca.crt';

/** Copies the ConfigMaps in the namespace of a cluster on the hub to the cluster. Its agent is installed by a chart. */
export function helloworldHelm(image: string, program?: string) {
  return defineAddOn({
    name: 'helloworldhelm',
    health: 'lease',
    supportedConfigs: [ADDON_DEPLOYMENT_CONFIG, CONFIG_MAP],
    registration: {
      configurations: [{ type: 'KubeClient' }],
      permissions: async (context) =>
        bindRole(context, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]),
    },
    manifests: (context) => {
      // A ConfigMap that the add-on of this cluster names: image and imagePullPolicy.
      const { image: own = image, imagePullPolicy = 'IfNotPresent' } = dataOf(context.configs(CONFIG_MAP)[0]);
      return helmChart(CHART, { program, values: { image: own, global: { imagePullPolicy } } })(context);
    },
  });
}

function dataOf(configMap: KubeObject | undefined): Readonly<Record<string, string | undefined>> {
  return (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
}

/** What the container of the agent runs. */
export async function runAgent({ cluster, namespace, mounts, signal }: RunningContainer): Promise<void> {
  const secret = mounts[HUB_ACCESS];
  const { hub, clusterName = '' } = await hubClient({
    from: secret === undefined ? { folder: HUB_ACCESS } : { cluster, ...secret },
    signal,
  });
  const shared = { clock: systemClock, random: Math.random, log: SILENT_LOG };
  const source = new Reflector({ ...shared, api: hub, kind: CONFIG_MAP, namespace: clusterName });
  source.store.onChange(({ before, after }) => {
    const { name } = (after ?? before)?.metadata ?? { name: OWN };
    if (name === OWN) return;
    const copy = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name },
      data: after?.['data'],
    };
    const options = { fieldManager: 'helloworldhelm', force: true };
    const write =
      after === undefined
        ? cluster.delete(CONFIG_MAP, copy.metadata)
        : cluster.apply(CONFIG_MAP, copy, options);
    // A real agent tries again: a Reflector and a ReconcileLoop are enough for that.
    write.catch(() => source.restart());
  });
  await Promise.all([source.run(signal), keepLease({ cluster, namespace, name: 'helloworldhelm', signal })]);
}
