import { InputError } from '@berth/runtime/errors';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { apiVersionOf, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { DELETING } from '@berth/ocm/registration/cluster-conditions';
import { REMOVAL_HELD } from '../../../../core/registration/cluster-deletion.ts';
import { clusterManagerObjects } from '../../../../core/registration/install/operator-objects.ts';
import { isJoined } from '../../../../core/registration/health/is-live.ts';
import { findCondition } from '@berth/kube/model/condition-list';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { refuseFlags } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';
import { installationOf, type Pending, waitUntil } from './run-installation.ts';

interface CleanFlags extends HubFlags {
  readonly dryRun: boolean;
  readonly timeout: string;
}

const HELP = `
Removes what berth init wrote: the controllers and their webhooks, the account that clusters join with, and their
rights. Objects of users stay, and so do the definitions of OCM’s kinds. The command refuses to run while clusters are
joined, and waits for those that are being deleted.

Exit codes: 0 removed, or nothing to do, 1 error: nothing or not everything was removed.

Examples:
  berth clean --context hub
`;

/** `berth clean`: undoes `berth init`. */
export const cleanCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('clean')
      .description('remove from a hub what berth init wrote')
      .option(
        '--timeout <duration>',
        'how long to wait for clusters that are being deleted, and until everything is deleted: a duration, or seconds',
        '5m',
      )
      .option('--dry-run', 'print what would be done, and change nothing', false);
    refuseFlags(addHubFlags(command), {
      name: 'the ClusterManager that berth init writes has one name',
      'purge-operator': 'there is no operator',
      'use-bootstrap-token': 'there are no bootstrap tokens',
    })
      .addHelpText('after', HELP)
      .action(run((io, flags: CleanFlags) => withHub(io, flags, (hub) => clean(io, hub, flags))));
  },
};

async function clean(io: CliIo, hub: KubeApi & ServerEndpoints, flags: CleanFlags): Promise<ExitCode> {
  await waitForClusters(io, hub, flags);
  if (flags.dryRun) {
    io.stdout.write('What berth init wrote would be removed (dry run)\n');
    return 0;
  }
  const { deleteObjects } = await import('../../../../controllers/installation/apply-objects.ts');
  const { stopBackground } = await import('../../../background/background-process.ts');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { hasOcmOperator } = await import('../../../../controllers/installation/installed-state.ts');
  const { removeWebhooks } = await import('../../../../controllers/admission/hub-webhooks.ts');
  const installation = await import('./hub-installation.ts');
  const { CLUSTER_INFO, controllerObjects, hubObjects, WEBHOOKS } = installation;
  const installed = (await installation.installedSettings(io, hub)) ?? {
    flags: installation.flagsBefore(undefined, true),
    secrets: [],
  };
  const pid = await stopBackground(installation.controllersFolder(io, hub.server), clock);
  if (pid !== undefined) io.stdout.write(`Stopped the controllers, process ${String(pid)}\n`);
  const info: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: CLUSTER_INFO };
  const isOcms = await hasOcmOperator(hub);
  if (isOcms)
    io.stdout.write('OCM’s cluster manager manages this hub, so the account and rights for joining stay\n');
  const objects = isOcms
    ? await controllerObjects(io, '', installed)
    : [...clusterManagerObjects(), ...(await hubObjects(io, '', installed)), info];
  const cleaning = installationOf(io, hub, { installer: 'init', clock });
  // First the controllers and their rights, which would write the webhooks again.
  const count = (await deleteObjects(cleaning, objects)) + (await removeWebhooks(hub, WEBHOOKS));
  const names = objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name);
  const hint = 'kubectl get namespace -o yaml shows why; run berth clean again to continue';
  const pending = { subject: `Namespaces ${names.join(', ')}`, problem: 'are not deleted yet', hint };
  await waitUntil(io, flags, async () => {
    const there = await Promise.all(names.map((name) => hub.get(NAMESPACE, { namespace: '', name })));
    const isDone = there.every((namespace) => namespace?.metadata.deletionTimestamp === undefined);
    return isDone ? undefined : pending;
  });
  io.stdout.write(
    count > 0 || pid !== undefined
      ? `${isOcms ? 'The controllers of berth init are gone.' : 'The hub is as it was before berth init.'} The definitions of OCM’s kinds and their objects stay\n`
      : 'berth init wrote nothing on this hub: there is nothing to do\n',
  );
  return 0;
}

/**
 * Waits for clusters that are being deleted.
 * @throws InputError that names the clusters, if there are others, or if somebody has to act
 */
async function waitForClusters(io: CliIo, hub: KubeApi, flags: CleanFlags): Promise<void> {
  if ((await hub.resolve(apiVersionOf(MANAGED_CLUSTER), MANAGED_CLUSTER.kind)) === undefined) return;
  const clustersLeft = async (): Promise<Pending | undefined> => {
    const clusters = (await hub.list(MANAGED_CLUSTER)).items as readonly ManagedCluster[];
    const joined = clusters.filter(isJoined);
    const others = joined.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (others.length > 0) throw stillJoined(hub, others);
    const held = joined.find(isHeld);
    if (held !== undefined) throw heldDeletion(held, 'berth clean');
    const [first] = joined;
    if (first === undefined) return undefined;
    const { reason, message } = deletionOf(first) ?? { reason: 'no condition Deleting yet', message: '' };
    return {
      subject: namesOf(joined),
      problem: `${isOrAre(joined)} still being deleted; ${first.metadata.name}: ${[reason, message].filter((part) => part !== '').join(': ')}`,
      hint: 'run berth clean again to continue; berth get clusters shows the state of each deletion',
      code: 'clean.joined',
    };
  };
  const left = flags.dryRun ? await clustersLeft() : undefined;
  if (left !== undefined) throw new InputError(left.problem, { ...left, code: 'clean.joined' });
  if (!flags.dryRun) await waitUntil(io, flags, clustersLeft);
}

/** How far the deletion of a cluster is; undefined: nobody has said so. */
export const deletionOf = ({ status }: ManagedCluster): Condition | undefined =>
  findCondition(status?.conditions, DELETING);
/** Whether the deletion waits for a person. */
export const isHeld = (cluster: ManagedCluster): boolean => deletionOf(cluster)?.reason === REMOVAL_HELD;
const namesOf = (clusters: readonly ManagedCluster[]): string =>
  clusters.map(({ metadata }) => metadata.name).join(', ');
const isOrAre = (clusters: readonly ManagedCluster[]): string => (clusters.length === 1 ? 'is' : 'are');

function stillJoined(hub: KubeApi, clusters: readonly ManagedCluster[]): InputError {
  return new InputError(`${namesOf(clusters)} ${isOrAre(clusters)} joined, expected no cluster`, {
    code: 'clean.joined',
    subject: hub.server,
    hint: 'for each of them: run kubectl delete managedcluster NAME here, then berth unjoin --cluster-name NAME on the cluster',
  });
}

/** @param command to run again afterwards */
export function heldDeletion(cluster: ManagedCluster, command: string): InputError {
  return new InputError(`its deletion is held (${REMOVAL_HELD}): ${deletionOf(cluster)?.message ?? ''}`, {
    code: 'clean.held',
    subject: `cluster ${cluster.metadata.name}`,
    hint: `approve the removal as the message says, or correct or delete the placement; the deletion then continues: run ${command} again`,
  });
}
