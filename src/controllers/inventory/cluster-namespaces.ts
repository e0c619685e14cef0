import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { formatNameList } from '@berth/runtime/text/name-list';
import { endingNamespace, failureText, missingNamespace } from '@berth/agent/rules/applied/kube-failure';
import { Backoff } from '@berth/runtime/loop/backoff';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';

interface Missing {
  readonly backoff: Backoff;
  /** Milliseconds since the epoch. */
  readonly untilMs: number;
}

interface MissingNamespacesOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

const BACKOFF = { initialMs: 1_000, maxMs: 30_000 };

/**
 * Clusters without a namespace on the hub, where nothing can be made: a cluster gets one when it is accepted. Every
 * event of other clusters starts a pass, so each cluster has a back-off of its own, and one line in the log.
 */
export class MissingNamespaces {
  readonly #options: MissingNamespacesOptions;
  readonly #missing = new Map<string, Missing>();

  constructor(options: MissingNamespacesOptions) {
    this.#options = options;
  }

  /**
   * Makes something in the namespace of a cluster, unless it was missing a moment ago.
   * @returns milliseconds until the next try; undefined if it was made
   * @throws what `make` throws for other reasons
   */
  async make(cluster: string, make: () => Promise<void>): Promise<number | undefined> {
    const { clock, random, log } = this.#options;
    const before = this.#missing.get(cluster);
    if (before !== undefined && before.untilMs > clock.now()) return before.untilMs - clock.now();
    try {
      await make();
    } catch (error) {
      if (missingNamespace(error) !== cluster && !endingNamespace(error)) throw error;
      if (before === undefined)
        log.warn('cluster has no namespace on the hub, so nothing is made for it until it has', {
          cluster,
          explanation: failureText(error),
        });
      const backoff = before?.backoff ?? new Backoff(BACKOFF, random);
      const waitMs = backoff.nextMs();
      this.#missing.set(cluster, { backoff, untilMs: clock.now() + waitMs });
      return waitMs;
    }
    if (this.#missing.delete(cluster)) log.info('cluster has a namespace on the hub', { cluster });
    return undefined;
  }

  /** @param prefix of the sentence: `works` */
  warnings(prefix: string): readonly string[] {
    const nowMs = this.#options.clock.now();
    // What is not tried any more is not wanted any more.
    const names = [...this.#missing].flatMap(([name, { untilMs }]) =>
      untilMs > nowMs - BACKOFF.maxMs ? [name] : [],
    );
    if (names.length === 0) return [];
    return [
      `${prefix}: no namespace on the hub, so nothing is made for them until they are accepted: ${formatNameList(names.sort())}`,
    ];
  }
}

/**
 * Whether the hub itself says that the cluster exists and is not being deleted. Asked before something is made in the
 * namespace of the cluster: the caches of two kinds are not equally fresh, so a controller may see that clean-up deleted
 * an object before it sees why.
 */
export async function confirmTakesWork(hub: Pick<KubeApi, 'list'>, cluster: string): Promise<boolean> {
  return takesWork(await clusterOnHub(hub, cluster));
}

/** Of so many clusters each is asked about. Beyond, one list is cheaper. */
const ASKED_ONE_BY_ONE = 8;

/** The same for many clusters, with few requests. */
export async function confirmTakeWork(
  hub: Pick<KubeApi, 'list'>,
  clusters: readonly string[],
): Promise<readonly string[]> {
  if (clusters.length <= ASKED_ONE_BY_ONE) {
    const taking = await Promise.all(clusters.map((cluster) => confirmTakesWork(hub, cluster)));
    return clusters.filter((_, at) => taking[at] === true);
  }
  const taking = new Set(
    (await hub.list(MANAGED_CLUSTER)).items
      .filter((cluster) => takesWork(cluster))
      .map(({ metadata }) => metadata.name),
  );
  return clusters.filter((cluster) => taking.has(cluster));
}

/** Whether the cluster exists and is being deleted. An object may be made before its cluster, so absent is false. */
export async function isBeingDeleted(hub: Pick<KubeApi, 'list'>, cluster: string): Promise<boolean> {
  const found = await clusterOnHub(hub, cluster);
  return found !== undefined && !takesWork(found);
}

/** Reads by a list, because the right to list clusters is needed anyway. */
async function clusterOnHub(hub: Pick<KubeApi, 'list'>, name: string): Promise<KubeObject | undefined> {
  return (await hub.list(MANAGED_CLUSTER, { fieldSelector: `metadata.name=${name}` })).items[0];
}
