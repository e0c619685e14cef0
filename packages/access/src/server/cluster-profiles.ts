import { Reflector } from '@berth/kube/cache/reflector';
import { findCondition } from '@berth/kube/model/condition-list';
import {
  apiVersionOf,
  CONFIG_MAP,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import type { Clock } from '@berth/runtime/clock/clock';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome, runReconciler } from '@berth/runtime/loop/reconciler';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CLUSTER_PROXY, USER_SERVER_CONFIG } from '../addon/cluster-proxy.ts';
import {
  MANAGED_LABEL,
  MANAGED_SERVICE_ACCOUNT,
  type ManagedServiceAccount,
} from '../addon/managed-serviceaccount.ts';
import {
  CLUSTER_PROFILE,
  clusterProfile,
  type ClusterProfileStatus,
  isOurs,
  profileLabels,
  profileStatus,
  type UserServerEntry,
} from '../rules/cluster-profile.ts';

const FIELD_MANAGER = 'berth-profiles';
/** On ManagedServiceAccounts whose token is copied beside the profiles of their cluster, and on the copies. */
const SYNC_LABEL = 'authentication.open-cluster-management.io/sync-to-clusterprofile';
const SYNCED_FROM = 'authentication.open-cluster-management.io/synced-from';
/** Changes of one second are handled together. */
const BATCH_MS = 1_000;

export interface ClusterProfilesOptions {
  readonly hub: KubeApi;
  /** In which the ConfigMap of the user server is. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Writes a ClusterProfile of each cluster into the namespaces that its sets are bound to, with the way to it through the hub, and copies
 * tokens of accounts beside it. Keys are namespaces. What others have written is neither changed nor deleted. Resolves after the signal.
 * Source: ocm 1.2.1 `pkg/registration/hub/clusterprofile`; managed-serviceaccount 0.10.0 `clusterprofile_cred_syncer.go`.
 */
export class ClusterProfiles {
  readonly #options: ClusterProfilesOptions;
  readonly #queue: WorkQueue;
  readonly #reads: Reflector[] = [];
  readonly #clusters: Reflector;
  readonly #sets: Reflector;
  readonly #bindings: Reflector;
  readonly #addOns: Reflector;
  readonly #config: Reflector;
  readonly #profiles: Reflector;
  readonly #accounts: Reflector;
  readonly #tokens: Reflector;
  readonly #copies: Reflector;

  constructor(options: ClusterProfilesOptions) {
    this.#options = options;
    this.#queue = new WorkQueue(options.clock);
    const { namespace } = options;
    this.#clusters = this.#read(MANAGED_CLUSTER);
    this.#sets = this.#read(MANAGED_CLUSTER_SET);
    this.#bindings = this.#read(MANAGED_CLUSTER_SET_BINDING);
    this.#addOns = this.#read(MANAGED_CLUSTER_ADDON, { fieldSelector: `metadata.name=${CLUSTER_PROXY}` });
    this.#config = this.#read(CONFIG_MAP, {
      namespace,
      fieldSelector: `metadata.name=${USER_SERVER_CONFIG}`,
    });
    this.#profiles = this.#read(CLUSTER_PROFILE);
    this.#accounts = this.#read(MANAGED_SERVICE_ACCOUNT, { labelSelector: `${SYNC_LABEL}=true` });
    this.#tokens = this.#read(SECRET, { labelSelector: `${MANAGED_LABEL}=true` });
    this.#copies = this.#read(SECRET, { labelSelector: SYNCED_FROM });
  }

  async run(): Promise<void> {
    const { clock, random, log, signal } = this.#options;
    const loop = { clock, random, log, name: 'cluster profiles', queue: this.#queue, concurrency: 4 };
    await Promise.all([
      ...this.#reads.map((reflector) => reflector.run(signal)),
      runReconciler(
        {
          ...loop,
          isRetryable: mayBeAllowedLater,
          // Until all have been listed, what seems to be missing may just be unread.
          mayBegin: async (stop) => void (await Promise.all(this.#reads.map((one) => one.whenSynced(stop)))),
          reconcile: (namespace) => this.#reconcile(namespace),
        },
        signal,
      ),
    ]);
  }

  #read(kind: KindInfo, scope: ListOptions = {}): Reflector {
    const { hub: api, clock, random, log } = this.#options;
    const reflector = new Reflector({ api, kind, clock, random, log, ...scope });
    this.#reads.push(reflector);
    reflector.store.onChange(({ before, after }) => {
      const { namespace = '' } = (after ?? before)?.metadata ?? {};
      if (kind === MANAGED_CLUSTER_SET_BINDING || kind === CLUSTER_PROFILE)
        this.#queue.addAfter(namespace, BATCH_MS);
      else for (const bound of this.#namespaces()) this.#queue.addAfter(bound, BATCH_MS);
    });
    return reflector;
  }

  #namespaces(): ReadonlySet<string> {
    const objects = [this.#bindings, this.#profiles].flatMap(({ store }) => store.list());
    return new Set(objects.map(({ metadata }) => metadata.namespace ?? ''));
  }

  async #reconcile(namespace: string): Promise<ReconcileOutcome> {
    const { hub } = this.#options;
    const wanted = this.#clustersOf(namespace);
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    const profiles = new Map<string, KubeObject>();
    const failures: unknown[] = [];
    // One that fails does not stop the others.
    const attempt = (one: Promise<unknown>) => one.catch((error: unknown) => failures.push(error));
    for (const cluster of wanted) await attempt(this.#ensureProfile(namespace, cluster, profiles));
    const copies = this.#copiesFor(namespace, profiles);
    for (const copy of copies) if (copy['data'] !== undefined) await attempt(this.#writeCopy(copy));
    const uids = new Set([...profiles.values()].map(({ metadata }) => metadata.uid));
    for (const { metadata } of this.#copies.store.list()) {
      const isOfProfile = metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) === true;
      const isWanted = copies.some((copy) => copy.metadata.name === metadata.name);
      if (metadata.namespace === namespace && isOfProfile && !isWanted)
        await attempt(hub.delete(SECRET, { namespace, name: metadata.name }, { uid: metadata.uid }));
    }
    for (const profile of this.#profiles.store.list()) {
      const { name, uid } = profile.metadata;
      if (profile.metadata.namespace === namespace && isOurs(profile) && !names.has(name))
        await attempt(hub.delete(CLUSTER_PROFILE, { namespace, name }, { uid }));
    }
    if (failures.length > 0) throw failures[0];
    return DONE;
  }

  /** The clusters of the sets that are bound to the namespace. */
  #clustersOf(namespace: string): readonly ManagedCluster[] {
    const bindings = this.#bindings.store.list() as unknown as readonly ManagedClusterSetBinding[];
    const memberships = bindings
      .filter(
        ({ metadata, status }) =>
          metadata.namespace === namespace && findCondition(status?.conditions, 'Bound')?.status === 'True',
      )
      .flatMap(({ spec }) => {
        const set = this.#sets.store.get(spec?.clusterSet ?? '') as ManagedClusterSet | undefined;
        return set === undefined ? [] : [membershipOf(set)];
      });
    const clusters = this.#clusters.store.list() as unknown as readonly ManagedCluster[];
    return clusters.filter(
      (cluster) =>
        cluster.metadata.deletionTimestamp === undefined &&
        memberships.some((membership) => isInSet(cluster, membership)),
    );
  }

  /** Adds it to the profiles, unless somebody else has one of that name. */
  async #ensureProfile(
    namespace: string,
    cluster: ManagedCluster,
    profiles: Map<string, KubeObject>,
  ): Promise<void> {
    const { hub, clock, log } = this.#options;
    const { name } = cluster.metadata;
    const key = { namespace, name };
    const options = { fieldManager: FIELD_MANAGER };
    let profile =
      this.#profiles.store.get(`${namespace}/${name}`) ??
      (await hub.get(CLUSTER_PROFILE, key)) ??
      (await hub.create(CLUSTER_PROFILE, clusterProfile(cluster, namespace), options));
    if (!isOurs(profile)) {
      log.warn('a ClusterProfile of somebody else has the name of a cluster', {
        profile: `${namespace}/${name}`,
      });
      return;
    }
    profiles.set(name, profile);
    const labels = profileLabels(cluster);
    if (Object.entries(labels).some(([label, value]) => profile.metadata.labels?.[label] !== value))
      profile = await hub.mergePatch(CLUSTER_PROFILE, key, { metadata: { labels } }, options);
    const before = (profile['status'] ?? {}) as ClusterProfileStatus;
    const now = formatRfc3339(instantFromEpochMs(clock.now()));
    const status = profileStatus(before, cluster, { entry: this.#entryFor(name), now });
    if (jsonEqual(before, status)) return;
    const { uid, resourceVersion } = profile.metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    await hub.mergePatch(CLUSTER_PROFILE, key, patch, { ...options, subresource: 'status' });
  }

  #entryFor(cluster: string): UserServerEntry | undefined {
    const config = this.#config.store.get(`${this.#options.namespace}/${USER_SERVER_CONFIG}`);
    const { url, 'ca.crt': ca } = (config?.['data'] ?? {}) as Readonly<Record<string, string | undefined>>;
    const addOn = this.#addOns.store.get(`${cluster}/${CLUSTER_PROXY}`);
    return url && ca && addOn ? { url, ca } : undefined;
  }

  /** The Secrets that shall be there. One without data has a token that cannot be read at the moment, and stays as it is. */
  #copiesFor(namespace: string, profiles: ReadonlyMap<string, KubeObject>): readonly KubeObject[] {
    const accounts = this.#accounts.store.list() as readonly ManagedServiceAccount[];
    return accounts.flatMap(({ metadata: { namespace: cluster = '', name }, status }) => {
      const profile = profiles.get(cluster);
      const source = this.#tokens.store.get(`${cluster}/${status?.tokenSecretRef?.name ?? ''}`);
      return profile === undefined ? [] : [tokenCopy({ namespace, cluster, name }, profile, source)];
    });
  }

  async #writeCopy(copy: KubeObject): Promise<void> {
    const { hub, log } = this.#options;
    const { namespace = '', name } = copy.metadata;
    const found =
      this.#copies.store.get(`${namespace}/${name}`) ?? (await hub.get(SECRET, { namespace, name }));
    const options = { fieldManager: FIELD_MANAGER, metadataOnly: true };
    if (found === undefined) return void (await hub.create(SECRET, copy, options));
    const [owner] = copy.metadata.ownerReferences ?? [];
    // Names of clusters and accounts may have dashes: `a` and `b-c` have the same copy as `a-b` and `c`.
    if (found.metadata.ownerReferences?.some(({ uid }) => uid === owner?.uid) !== true) {
      log.warn('a Secret of somebody else has the name of a copied token', {
        secret: `${namespace}/${name}`,
      });
      return;
    }
    if (jsonEqual(found['data'], copy['data'])) return;
    await hub.update(SECRET, { ...found, apiVersion: 'v1', kind: SECRET.kind, data: copy['data'] }, options);
  }
}

function tokenCopy(
  {
    namespace,
    cluster,
    name,
  }: { readonly namespace: string; readonly cluster: string; readonly name: string },
  { metadata: { name: profile, uid = '' } }: KubeObject,
  source: KubeObject | undefined,
): KubeObject {
  const { kind } = CLUSTER_PROFILE;
  const owner = { apiVersion: apiVersionOf(CLUSTER_PROFILE), kind, name: profile, uid, controller: true };
  return {
    ...{ apiVersion: 'v1', kind: SECRET.kind, type: 'Opaque' },
    metadata: {
      ...{ namespace, name: `${cluster}-${name}`, ownerReferences: [owner] },
      labels: { [SYNCED_FROM]: `${cluster}-${name}` },
    },
    data: source?.['data'],
  };
}
