import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import {
  apiVersionOf,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  LEASE,
  MANAGED_CLUSTER_SET,
  NODE,
  POD,
} from '@berth/kube/model/kinds';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { isEmbeddedVersion, isInstalledBy } from '../../core/registration/install/installed-object.ts';
import { CLUSTER_MANAGER } from '../../core/registration/install/operator-objects.ts';
import { InputError } from '@berth/runtime/errors';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import { serverVersion } from '@berth/kube/probe-server';
import {
  type ActiveController,
  activeControllers,
  LEASE_NAMESPACES,
} from '../../core/registration/install/controller-announcement.ts';

/**
 * Whether pods run on the cluster: it has nodes, and is no embedded hub or member. Those may hold Node objects, but
 * nothing behind them; a Deployment there would be one that nobody runs.
 */
export async function runsPods(api: KubeApi & ServerEndpoints): Promise<boolean> {
  return (await nodeCount(api)) > 0 && !(await isEmbedded(api));
}

/** Whether it is an embedded hub, or a member of one. */
export async function isEmbedded(api: ServerEndpoints): Promise<boolean> {
  return isEmbeddedVersion((await serverVersion(api)) ?? '');
}

export async function nodeCount(api: KubeApi): Promise<number> {
  return (await api.list(NODE)).items.length;
}

const API_SERVER = { namespace: 'default', name: 'kubernetes' };

/** The address by which pods of the cluster reach its API server; undefined if it does not say one that others reach. */
export async function apiServerEndpoint(api: KubeApi): Promise<string | undefined> {
  const found = (await api.get(ENDPOINT_SLICE, API_SERVER)) as EndpointSlice | undefined;
  const ip = found?.endpoints?.[0]?.addresses[0];
  const port = found?.ports?.find(({ name }) => name === 'https')?.port;
  if (ip === undefined || port === undefined || isLoopbackHost(ip)) return undefined;
  return `https://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/**
 * Whether an OCM operator manages the hub: the hub has its kind, and not only for the object by which `berth init` shows itself.
 * Who may not look at these objects leaves the hub to the operator.
 */
export async function hasOcmOperator(api: KubeApi): Promise<boolean> {
  const { kind } = CLUSTER_MANAGER;
  if ((await api.resolve(apiVersionOf(CLUSTER_MANAGER), kind)) === undefined) return false;
  try {
    const { items } = await api.list(CLUSTER_MANAGER);
    // An operator puts its finalizer on each object that it manages.
    const isOurs = (one: KubeObject): boolean =>
      isInstalledBy(one, 'init') && (one.metadata.finalizers ?? []).length === 0;
    return items.length === 0 || !items.every(isOurs);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // The kind was removed since the client learned of it.
    if (error.code === 'kube.notfound') return false;
    if (error.code === 'kube.forbidden') return true;
    throw error;
  }
}

/** Controllers of other programs that hold a Lease on the hub. */
export async function findOtherControllers(
  api: KubeApi,
  nowMs: number,
): Promise<readonly ActiveController[]> {
  const lists = await Promise.all(LEASE_NAMESPACES.map((namespace) => api.list(LEASE, { namespace })));
  return activeControllers(
    lists.flatMap(({ items }) => items),
    nowMs,
  );
}

/** The Pods of a Deployment; undefined if it does not exist. */
export async function podsOf(
  api: KubeApi,
  key: { readonly namespace: string; readonly name: string },
): Promise<{ readonly available: number; readonly wanted: number; readonly image: string } | undefined> {
  const found = (await api.get(DEPLOYMENT, key)) as DeploymentObject | undefined;
  if (found === undefined) return undefined;
  const isSeen = found.status?.observedGeneration === found.metadata.generation;
  return {
    available: isSeen ? (found.status?.availableReplicas ?? 0) : 0,
    wanted: found.spec?.replicas ?? 1,
    image: found.spec?.template?.spec?.containers?.[0]?.image ?? '',
  };
}

/** Why no pod of a Deployment runs: `its pod cannot start: ImagePullBackOff: …`. Undefined if one runs. */
export async function podProblem(
  api: KubeApi,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string | undefined> {
  const { items } = await api.list(POD, { namespace, labelSelector: `app=${name}` });
  const problems = (items as readonly Pod[]).map(problemOf);
  if (problems.length === 0) return 'has no running pod yet';
  return problems.includes(undefined) ? undefined : problems[0];
}

function problemOf({ status = {} }: Pod): string | undefined {
  const { phase, conditions = [], containerStatuses: [container] = [] } = status;
  if (phase === 'Running' && container?.state?.running !== undefined) return undefined;
  const unplaced = conditions.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unplaced !== undefined) return `its pod finds no node: ${unplaced.message ?? ''}`;
  const { reason, message } = container?.state?.waiting ?? {};
  if (reason === undefined || STARTING.has(reason)) return 'its pod starts';
  const why = message === undefined ? reason : `${reason}: ${message}`;
  return reason === 'CrashLoopBackOff' ? `its pod ended: ${why}` : `its pod cannot start: ${why}`;
}

const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

const FIRST_SET = 'default';

/** Whether registration controllers have run: one of them keeps this set and counts its clusters. */
export async function areSetsKept(api: KubeApi): Promise<boolean> {
  const set = await api.get(MANAGED_CLUSTER_SET, { namespace: '', name: FIRST_SET });
  const status = set?.['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  return (status?.conditions ?? []).length > 0;
}

type EndpointSlice = KubeObject & {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[];
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
};

type Pod = KubeObject & {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Pick<Condition, 'type' | 'status' | 'message'>[];
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly running?: object;
        readonly waiting?: { readonly reason?: string; readonly message?: string };
      };
    }[];
  };
};

type DeploymentObject = KubeObject & {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };
  };
  readonly status?: { readonly observedGeneration?: number; readonly availableReplicas?: number };
};
