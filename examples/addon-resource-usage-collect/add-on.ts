import { bindRole, defineAddOn } from '@berth/addon';
import { hubClient } from '@berth/addon/agent';
import type { RunningContainer } from '@berth/addon/testing';
import { provideScores } from '@berth/agent/scores/provide-scores';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG } from '@berth/runtime/logger';

/** Berth's own image: `berth score-provider` is the agent of this add-on. */
export const IMAGE = process.env['BERTH_IMAGE'] ?? 'berth:latest';
const HUB_ACCESS = '/managed/hub-kubeconfig';
const SCORES = 'cluster.open-cluster-management.io';

/** Keeps the AddOnPlacementScore `resource-usage-score` in the namespace of each cluster up to date. */
export const resourceUsageCollect = defineAddOn({
  name: 'resource-usage-collect',
  health: 'deployments',
  registration: {
    configurations: [{ type: 'KubeClient' }],
    // Each cluster may write its own scores and no others.
    permissions: async (context) =>
      bindRole(context, [
        { apiGroups: [SCORES], resources: ['addonplacementscores'], verbs: ['get', 'create'] },
        { apiGroups: [SCORES], resources: ['addonplacementscores/status'], verbs: ['patch'] },
      ]),
  },
  manifests: async ({ cluster, addon, installNamespace: namespace }) => {
    const name = `${addon.metadata.name}-agent`;
    const labels = { app: name };
    const subject = { kind: 'ServiceAccount', name, namespace };
    const rights = [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] }];
    const args = [
      ...['score-provider', 'resource-usage', '--from-zero', '--cluster-name', cluster.metadata.name],
      ...['--hub-kubeconfig', `${HUB_ACCESS}/kubeconfig`],
    ];
    const container = {
      ...{ name: 'agent', image: IMAGE, args },
      volumeMounts: [{ name: 'hub-kubeconfig', mountPath: HUB_ACCESS }],
    };
    const secretName = `${addon.metadata.name}-hub-kubeconfig`;
    const pod = {
      ...{ serviceAccountName: name, containers: [container] },
      volumes: [{ name: 'hub-kubeconfig', secret: { secretName } }],
    };
    return [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
      { apiVersion: RBAC, kind: 'ClusterRole', metadata: { name }, rules: rights },
      {
        ...{ apiVersion: RBAC, kind: 'ClusterRoleBinding', metadata: { name }, subjects: [subject] },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      },
      {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
      },
    ];
  },
});

const RBAC = 'rbac.authorization.k8s.io/v1';

/** What `berth score-provider` does in the container, for clusters without containers. */
export async function runAgent({ cluster, mounts, signal }: RunningContainer): Promise<void> {
  const secret = mounts[HUB_ACCESS];
  if (secret === undefined) throw new Error(`there is no Secret at ${HUB_ACCESS}`);
  const { hub, clusterName = '' } = await hubClient({ from: { cluster, ...secret }, signal });
  const times = { refreshMs: 60_000, validMs: 300_000, clock: systemClock, random: Math.random };
  const score = { scoreName: 'resource-usage-score', measure: 'requests', lowest: 0 } as const;
  await provideScores({ hub, cluster, clusterName, ...score, ...times, log: SILENT_LOG }, signal);
}
