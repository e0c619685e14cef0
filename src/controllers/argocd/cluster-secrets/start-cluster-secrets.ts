import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { Reflector } from '@berth/kube/cache/reflector';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { GITOPS_CLUSTERS, MANAGED_SERVICE_ACCOUNT } from '../../../core/argocd/argocd-kinds.ts';
import { knownSecret } from '../../../core/argocd/cluster-secrets/cluster-secret.ts';
import {
  type GitOpsCluster,
  readGitOpsCluster,
  type RegistrationOutcome,
  statusPatch,
} from '../../../core/argocd/cluster-secrets/gitops-cluster.ts';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { type KindInfo, MANAGED_CLUSTER, SECRET } from '@berth/kube/model/kinds';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import { DONE, type ReconcileOutcome, runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';
import { CredentialReader } from './credential-reader.ts';
import { SecretsPass, type SecretWritten } from './secrets-pass.ts';

export interface ClusterSecretsOptions {
  readonly hub: KubeApi;
  /** The cache of the same hub. Of the Secrets it keeps only cluster Secrets in the namespace of Argo CD. */
  readonly cache: ObjectCache;
  readonly published: PublishedPlacements;
  readonly argocdNamespace: string;
  /** Labels of a ManagedCluster to copy to its Secret: keys, or `prefix*`. */
  readonly labels: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onWrite?: ((event: SecretWritten) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

export interface RunningClusterSecrets {
  /** What fails or waits at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/** One queue key for all Secrets: two GitOpsClusters may want the same cluster. */
const ALL = 'all';
const DEBOUNCE_MS = 250;
/** Secrets with credentials are not watched, so they are read again after this time. */
const RECHECK_MS = 300_000;
/** Applications are not watched. Berth checks at this interval whether those of a removed cluster are gone. */
const MAX_WAIT_MS = 30_000;

/** Registers in Argo CD the clusters that the placements of GitOpsClusters select. */
export function startClusterSecrets(options: ClusterSecretsOptions): RunningClusterSecrets {
  const { clock, random, log, mayBegin, onError, published } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const registrar = new Registrar(options);
  const queue = new WorkQueue(clock);
  const soon = (): void => queue.addAfter(ALL, DEBOUNCE_MS);
  published.onChange(soon);
  registrar.onChange(soon);
  supervisor.start('cluster secrets', async (signal) => {
    await registrar.whenSynced(signal);
    soon();
    await runReconciler(
      {
        ...{ clock, random, log, mayBegin, ...(onError && { onError }) },
        name: 'cluster secrets',
        queue,
        concurrency: 1,
        isRetryable: mayBeAllowedLater,
        reconcile: () => registrar.pass(),
      },
      signal,
    );
  });
  return { warnings: () => registrar.warnings(), close: () => supervisor.close() };
}

class Registrar {
  readonly #options: ClusterSecretsOptions;
  readonly #gitOps: readonly Reflector[];
  readonly #clusters: Reflector;
  readonly #secrets: Reflector;
  readonly #serviceAccounts: Reflector;
  readonly #credentials: CredentialReader;
  #outcomes: ReadonlyMap<string, RegistrationOutcome> = new Map();

  constructor(options: ClusterSecretsOptions) {
    const { cache, hub, clock } = options;
    this.#options = options;
    this.#gitOps = GITOPS_CLUSTERS.map((kind) => cache.of(kind));
    this.#clusters = cache.of(MANAGED_CLUSTER);
    this.#secrets = cache.of(SECRET);
    this.#serviceAccounts = cache.of(MANAGED_SERVICE_ACCOUNT);
    this.#credentials = new CredentialReader({ hub, clock, serviceAccounts: this.#serviceAccounts });
  }

  onChange(listener: () => void): void {
    for (const { store } of [...this.#gitOps, this.#secrets, this.#serviceAccounts])
      store.onChange((change) => {
        if (hasContentChanged(change)) listener();
      });
    this.#clusters.store.onChange((change) => {
      if (hasAddressChanged(change)) listener();
    });
  }

  /** A hub may lack ManagedServiceAccounts, or one of the versions of GitOpsCluster. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#clusters.whenSynced(signal),
      this.#secrets.whenSynced(signal),
      Promise.all([...this.#gitOps, this.#serviceAccounts].map((kind) => kind.whenListedOrRefused(signal))),
    ]);
  }

  warnings(): readonly string[] {
    const refused = [...this.#refusedGitOps(), this.#secrets].flatMap(({ kind, failure }) =>
      failure === undefined
        ? []
        : [
            `argocd: ${refusedKindText(kind, failure, SERVE_RIGHTS)}; until then no cluster is registered or removed`,
          ],
    );
    const reported = [...this.#outcomes].flatMap(([key, { problems, kept }]) =>
      [...problems, ...kept].map((sentence) => `argocd: GitOpsCluster ${key}: ${sentence}`),
    );
    return [...refused, ...reported];
  }

  async pass(): Promise<ReconcileOutcome> {
    const { published, hub, argocdNamespace, labels, onWrite } = this.#options;
    if (!published.complete) return DONE;
    const { objects, gitOpsClusters, unreadable } = this.#read();
    const result = await new SecretsPass(
      { hub, argocdNamespace, credentials: this.#credentials, onWrite },
      {
        gitOpsClusters,
        unreadable: new Set(unreadable.keys()),
        selected: (placement) => selectedClusters(published, placement),
        cluster: (name) => this.#clusters.store.get(name) as ManagedCluster | undefined,
        secrets: this.#secrets.store.list().map(knownSecret),
        isComplete: this.#refusedGitOps().length === 0,
        allowedLabels: labels,
      },
    ).run();
    const failed = [...unreadable].map(([key, problem]): [string, RegistrationOutcome] => [
      key,
      { selected: undefined, registered: [], problems: [problem], kept: [] },
    ]);
    this.#outcomes = new Map([...result.outcomes, ...failed]);
    await this.#report(objects);
    if (result.mayWorkLater || result.isWaiting) return { kind: 'retry', atMostMs: MAX_WAIT_MS };
    return { kind: 'requeue', afterMs: RECHECK_MS };
  }

  /** In order of precedence, oldest first. */
  #read() {
    const objects = new Map<string, readonly [KindInfo, KubeObject]>();
    for (const { kind, store } of this.#gitOps)
      for (const object of store.list()) {
        const key = namespacedName(object.metadata);
        if (!objects.has(key)) objects.set(key, [kind, object]);
      }
    const age = ([, { metadata }]: readonly [KindInfo, KubeObject]): string =>
      `${metadata.creationTimestamp ?? ''} ${namespacedName(metadata)}`;
    const ordered = [...objects.values()].sort((a, b) => (age(a) < age(b) ? -1 : 1));
    const gitOpsClusters: GitOpsCluster[] = [];
    const unreadable = new Map<string, string>();
    const own = this.#options.argocdNamespace;
    for (const [, object] of ordered) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      const reading = readGitOpsCluster(object);
      if (!reading.ok) unreadable.set(reading.key, reading.problem);
      else if (reading.gitOpsCluster.argocdNamespace === own) gitOpsClusters.push(reading.gitOpsCluster);
      else
        unreadable.set(
          reading.gitOpsCluster.key,
          `Argo CD's namespace is ${reading.gitOpsCluster.argocdNamespace}, but Berth runs with --argocd-namespace ${own}`,
        );
    }
    return { objects, gitOpsClusters, unreadable };
  }

  /** One of the two versions is enough. A version that the hub does not serve blocks nothing. */
  #refusedGitOps(): readonly Reflector[] {
    const unread = this.#gitOps.filter(({ synced, failure }) => !synced || failure !== undefined);
    const served = unread.filter(({ failure }) => failure?.error.code !== 'kube.notfound');
    return unread.length === this.#gitOps.length ? unread : served;
  }

  async #report(objects: ReadonlyMap<string, readonly [KindInfo, KubeObject]>): Promise<void> {
    const now = formatRfc3339(instantFromEpochMs(this.#options.clock.now()));
    for (const [key, outcome] of this.#outcomes) {
      const [kind, object] = objects.get(key) ?? [];
      if (kind === undefined || object === undefined) continue;
      const status = statusPatch(object, outcome, now);
      if (status === undefined) continue;
      const { namespace = '', name, uid, resourceVersion } = object.metadata;
      await this.#options.hub.mergePatch(
        kind,
        { namespace, name },
        { metadata: { uid, resourceVersion }, status },
        { subresource: 'status', fieldManager: 'berth-argocd', metadataOnly: true },
      );
    }
  }
}

function selectedClusters(published: PublishedPlacements, placement: string): readonly string[] | undefined {
  return published
    .get(placement)
    ?.groups.flatMap(({ decisions }) => decisions.map(({ clusterName }) => clusterName));
}

/** Berth's own status patch does not start another pass. */
function hasContentChanged({ before, after }: ObjectChange): boolean {
  const content = (object: KubeObject | undefined) =>
    object && [
      object.metadata.labels,
      object.metadata.annotations,
      object['spec'],
      object['cluster'],
      tokenOf(object),
    ];
  return !jsonEqual(content(before), content(after));
}

function tokenOf(object: KubeObject): unknown {
  const { tokenSecretRef } = (object['status'] ?? {}) as { readonly tokenSecretRef?: unknown };
  return tokenSecretRef;
}

/** Heartbeats and conditions do not matter. */
function hasAddressChanged({ before, after }: ObjectChange): boolean {
  const content = (object: KubeObject | undefined) =>
    object && [object.metadata.labels, object['spec'], takesWork(object)];
  return !jsonEqual(content(before), content(after));
}
