import { join } from 'node:path';
import { bindRole, defineAddOn } from '@berth/addon';
import { helmChart } from '@berth/addon/helm-chart';
import { ADDON_DEPLOYMENT_CONFIG, CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { type AgentPod, runAgent as copyConfigMaps } from '../addon-helloworld/add-on.ts';

const CHART = join(import.meta.dirname, 'chart');
const NAME = 'helloworldhelm';

/** Copies the ConfigMaps in the namespace of a cluster on the hub to the cluster. Its agent is installed by a chart. */
export function helloworldHelm(image: string, program?: string) {
  return defineAddOn({
    name: NAME,
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

/** What the container of the agent runs: the same as in the other example. */
export const runAgent = (pod: AgentPod): Promise<void> => copyConfigMaps(pod, NAME);
