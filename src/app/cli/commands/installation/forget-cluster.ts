import {
  apiVersionOf,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_LEASE } from '@berth/ocm/registration/names';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { printableLines } from '@berth/runtime/text/printable';
import {
  finalizersWithoutAgent,
  keptOnCluster,
  signOfLife,
} from '../../../../core/registration/cluster-deletion.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { deletionOf, heldDeletion, isHeld } from './clean.ts';
import { type Pending, waitUntil } from './run-installation.ts';

interface ForgetFlags {
  readonly clusterName: string;
  readonly dryRun: boolean;
  readonly timeout: string;
}

const AGAIN = 'berth unjoin --force';

/** In the order in which the hub deletes them. */
const OF_CLUSTER = [MANAGED_CLUSTER_ADDON, MANIFEST_WORK];

/**
 * Removes the registration of a cluster that is gone from its hub, as `kubectl delete managedcluster` does, and does the agent's
 * part of that: it takes the agent's finalizers off the works and add-ons that the hub deletes. A hold is respected. Each pass
 * looks for signs of life first.
 * @throws InputError for a cluster whose agent is not silent, for a held deletion, and after the timeout
 */
export async function forgetCluster(io: CliIo, hub: KubeApi, flags: ForgetFlags): Promise<ExitCode> {
  const { clusterName: name, dryRun } = flags;
  const say = (...lines: readonly string[]): void => void io.stdout.write(printableLines(lines));
  const isHub = (await hub.resolve(apiVersionOf(MANAGED_CLUSTER), MANAGED_CLUSTER.kind)) !== undefined;
  const start = isHub ? await readCluster(hub, name) : undefined;
  if (start === undefined || (start.cluster === undefined && start.objects.length === 0)) {
    say(`There is no agent of ${name} here, and no cluster ${name} that has joined: there is nothing to do`);
    return 0;
  }
  if (dryRun) {
    say(`The hub would forget the cluster ${name} (dry run). The cluster would keep what its agent manages:`);
    say(...start.objects.map(({ kind, object }) => `  ${keptOnCluster(kind, object)}`));
    return 0;
  }
  await waitUntil(io, flags, async () => {
    const now = await readCluster(hub, name);
    for (const { kind, object } of now.objects)
      if (await releaseFromAgent(hub, kind, object))
        say(`The cluster keeps, if it still exists: ${keptOnCluster(kind, object)}`);
    const { cluster, objects } = now;
    if (cluster !== undefined && cluster.metadata.deletionTimestamp === undefined)
      await hub.delete(MANAGED_CLUSTER, { namespace: '', name }, { uid: cluster.metadata.uid });
    if (cluster !== undefined && isHeld(cluster)) throw heldDeletion(cluster, AGAIN);
    return cluster === undefined && objects.length === 0 ? undefined : pendingOf(name, now);
  });
  say(
    `The hub has forgotten ${name}. What the cluster keeps goes on there, if the cluster still exists`,
    'If it comes back, its agent changes nothing there until somebody joins it again',
  );
  return 0;
}

interface FoundCluster {
  readonly cluster: ManagedCluster | undefined;
  readonly objects: readonly { readonly kind: KindInfo; readonly object: KubeObject }[];
}

/** @throws InputError for a cluster whose agent is not silent */
async function readCluster(hub: KubeApi, name: string): Promise<FoundCluster> {
  const { objectsOfCluster } = await import('../../../../controllers/registration/cluster-cleaner.ts');
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const cluster = (await hub.get(MANAGED_CLUSTER, { namespace: '', name })) as ManagedCluster | undefined;
  const lists = OF_CLUSTER.map(async (kind) =>
    (await objectsOfCluster(hub, kind, name)).map((object) => ({ kind, object })),
  );
  const objects = (await Promise.all(lists)).flat();
  if (cluster === undefined) return { cluster, objects };
  // Last: what was read before is not newer than the agent's silence.
  const lease = await hub.get(LEASE, { namespace: name, name: CLUSTER_LEASE });
  const sign = signOfLife(cluster, lease, systemClock.now());
  if (sign === undefined) return { cluster, objects };
  throw new InputError(`is not gone: ${sign}`, {
    code: 'unjoin.alive',
    subject: `cluster ${name}`,
    hint: 'run berth unjoin on the cluster, without --force; if its agent has just ended, wait until the hub reports the cluster as unknown',
  });
}

/** @returns whether the object waited for the agent, and does not any more */
async function releaseFromAgent(hub: KubeApi, kind: KindInfo, object: KubeObject): Promise<boolean> {
  const finalizers = finalizersWithoutAgent(object);
  if (finalizers === undefined) return false;
  const { namespace = '', name, uid, resourceVersion } = object.metadata;
  try {
    await hub.mergePatch(kind, { namespace, name }, { metadata: { uid, resourceVersion, finalizers } });
    return true;
  } catch (error) {
    // Somebody else has changed or removed it: the next pass reads it again.
    if (error instanceof ConflictError) return false;
    if (error instanceof InputError && error.code === 'kube.notfound') return false;
    throw error;
  }
}

function pendingOf(name: string, { cluster, objects }: FoundCluster): Pending {
  const code = 'unjoin.force';
  if (cluster === undefined)
    return {
      ...{ code, subject: `${objects.length} works and add-ons of ${name}` },
      problem: 'are on the hub, though the cluster is not, and no controller deletes them',
      hint: `run kubectl delete managedclusteraddons,manifestworks --all -n ${name} on the hub, and ${AGAIN} again`,
    };
  const { reason, message } = deletionOf(cluster) ?? { reason: 'no condition Deleting yet', message: '' };
  return {
    ...{ code, subject: `cluster ${name}` },
    problem: `is still being deleted: ${[reason, message].filter((part) => part !== '').join(': ')}`,
    hint: `run ${AGAIN} again to continue; a controller of registration has to run on the hub`,
  };
}
