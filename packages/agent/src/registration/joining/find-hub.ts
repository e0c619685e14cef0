import type { KubeConfig } from '@berth/kube/config/kube-config';
import { MANAGED_CLUSTER, SELF_SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { errorText, InputError } from '@berth/runtime/errors';
import type { RegistrationSettings } from '../options/registration-settings.ts';

/**
 * Reads a bootstrap kubeconfig again.
 * @throws InputError when it is invalid
 */
export type ReadBootstrap = () => KubeConfig;

interface Search {
  readonly bootstraps: readonly ReadBootstrap[];
  readonly clusterName: string;
  /** The server in the stored hub kubeconfig. */
  readonly currentServer: string | undefined;
  readonly settings: RegistrationSettings;
}

/**
 * Chooses the bootstrap kubeconfig to use. A single one is used without checks. Of several, one is chosen whose hub
 * answers and would accept the cluster.
 * @throws InputError when none can be used now
 */
export async function findHub(search: Search): Promise<ReadBootstrap> {
  const { bootstraps, currentServer } = search;
  const [first, ...others] = bootstraps;
  if (first !== undefined && others.length === 0) return first;
  const candidates = await Promise.all(bootstraps.map((readBootstrap) => examineHub(readBootstrap, search)));
  const chosen = chooseHub(candidates, currentServer);
  const found = chosen === undefined ? undefined : bootstraps[chosen];
  if (found !== undefined) return found;
  throw new InputError('no hub answers and would accept the cluster', {
    code: 'agent.no-hub',
    subject: `${bootstraps.length} bootstrap kubeconfigs`,
    hint: 'the log says what is wrong with each of them',
  });
}

async function examineHub(
  readBootstrap: ReadBootstrap,
  { clusterName, settings }: Search,
): Promise<HubCandidate> {
  let server = '';
  try {
    const config = readBootstrap();
    server = config.getCurrentCluster()?.server ?? '';
    const hub = settings.connect(config);
    try {
      const why = await reasonToSkip(hub.api, clusterName);
      if (why !== undefined) settings.log.warn('a hub in the list is skipped', { server, why });
      return { server, passes: why === undefined };
    } finally {
      hub.close();
    }
  } catch (error) {
    settings.log.warn('a hub in the list is skipped', { server, why: errorText(error) });
    return { server, passes: false };
  }
}

const CLUSTER = { group: 'cluster.open-cluster-management.io', resource: 'managedclusters' };
const REQUESTS = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };
/** Source: open-cluster-management.io/ocm `pkg/registration/spoke/bootstrapkubeconfigsmanager.go` (validateBootstrapKubeconfig). */
const NEEDED_RIGHTS = [
  ...['create', 'get'].map((verb) => ({ ...CLUSTER, verb })),
  ...['create', 'get', 'list', 'watch'].map((verb) => ({ ...REQUESTS, verb })),
];

/** Why a hub would not accept the cluster; undefined if it would. */
async function reasonToSkip(api: KubeApi, clusterName: string): Promise<string | undefined> {
  for (const resourceAttributes of NEEDED_RIGHTS) {
    const review: KubeObject = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {} as ObjectMeta,
      spec: { resourceAttributes },
    };
    const { status } = (await api.create(SELF_SUBJECT_ACCESS_REVIEW, review)) as KubeObject & {
      readonly status?: { readonly allowed?: boolean };
    };
    const { verb, resource } = resourceAttributes;
    if (status?.allowed !== true) return `the bootstrap kubeconfig may not ${verb} ${resource}`;
  }
  const found = await api.get(MANAGED_CLUSTER, { namespace: '', name: clusterName });
  const cluster = found as unknown as ManagedCluster | undefined;
  return cluster === undefined || cluster.spec?.hubAcceptsClient === true
    ? undefined
    : 'it has not accepted the cluster';
}

/** A bootstrap kubeconfig of a list, and whether its hub accepts the cluster. */
interface HubCandidate {
  readonly server: string;
  /** The hub answers, grants the rights for a registration, and has not denied the cluster. */
  readonly passes: boolean;
}

/**
 * Chooses the hub of an agent from a list: the current one while it accepts the cluster, otherwise the first one that
 * does.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/bootstrapkubeconfigsmanager.go`.
 * @param current server of the hub kubeconfig that the agent has
 * @returns the index in the list; undefined if no hub accepts the cluster now
 */
export function chooseHub(
  candidates: readonly HubCandidate[],
  current: string | undefined,
): number | undefined {
  const kept = candidates.findIndex(({ server, passes }) => passes && server === current);
  const chosen = kept >= 0 ? kept : candidates.findIndex(({ passes }) => passes);
  return chosen < 0 ? undefined : chosen;
}
