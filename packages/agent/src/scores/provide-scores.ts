import { Reflector } from '@berth/kube/cache/reflector';
import { TransientError } from '@berth/runtime/errors';
import { apiVersionOf, type KindInfo, NODE, NODE_METRICS, POD } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { NodeResources } from '../rules/registration/next-status.ts';
import {
  type AvailableResources,
  availableByRequests,
  availableByUsage,
  type PodRequests,
} from '../rules/scores/available-resources.ts';
import { type LowestScore, resourceUsageScores } from '../rules/scores/resource-usage-score.ts';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep } from '@berth/runtime/loop/sleep';
import { type ScoreWrite, writeScore } from './write-score.ts';

/**
 * The measure of usage: requests of pods, or usage of nodes from metrics-server. `auto`: the latter
 * if the cluster has it. During an outage of metrics-server nothing is written, so that a score
 * does not change its meaning.
 */
export type Measure = 'requests' | 'metrics' | 'auto';

/**
 * Changes of nodes or pods are processed after this delay, together with those that follow in it.
 */
const SETTLE_MS = 5_000;

export interface ProvideScoresOptions extends ScoreWrite {
  readonly cluster: KubeApi;
  readonly measure: Measure;
  /** Default: −100. */
  readonly lowest?: LowestScore;
  /** The interval of computing scores, plus a random 0 to 10 %. */
  readonly refreshMs: number;
  readonly random: () => number;
}

/**
 * Keeps the scores `cpuAvailable` and `memAvailable` of a cluster up to date on its hub. While the cluster cannot be
 * read nothing is written, and the scores expire.
 */
export async function provideScores(options: ProvideScoresOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, log, refreshMs, measure } = options;
  const nodes = follow(options, NODE, reduceNode, signal);
  const pods = measure === 'metrics' ? undefined : follow(options, POD, reducePod, signal);
  const followed = [nodes, ...(pods === undefined ? [] : [pods])];
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 }, random);
  await Promise.all(followed.map(({ reflector }) => reflector.whenSynced(signal)));
  const changes = new ChangeSignal(followed.map(({ reflector }) => reflector));
  while (!signal.aborted) {
    let waitMs = refreshMs * (1 + 0.1 * random());
    try {
      changes.clear();
      // State that a watch did not confirm for this time counts as stale.
      const staleMs = Math.max(...followed.map(({ reflector }) => reflector.stalenessMs()));
      if (staleMs < options.validMs) {
        const available = await availableNow(
          options,
          objectsOf<NamedNode>(nodes),
          objectsOf<PodRequests>(pods),
        );
        await writeScore(options, resourceUsageScores(available, options.lowest));
      }
      backoff.reset();
    } catch (error) {
      waitMs = Math.min(waitMs, backoff.nextMs());
      log.warn('scores cannot be written yet', { cluster: options.clusterName, error });
    }
    await changes.wait(clock, waitMs, signal);
  }
  await Promise.all(followed.map(({ running }) => running));
}

async function availableNow(
  { cluster, measure, clock, validMs }: ProvideScoresOptions,
  nodes: readonly NamedNode[],
  pods: readonly PodRequests[],
): Promise<AvailableResources> {
  const isMeasured =
    measure === 'metrics' ||
    (measure === 'auto' &&
      (await cluster.resolve(apiVersionOf(NODE_METRICS), NODE_METRICS.kind)) !== undefined);
  if (!isMeasured) return availableByRequests(nodes, pods);
  const { items } = await cluster.list(NODE_METRICS);
  const fresh = { nowMs: clock.now(), maxAgeMs: validMs };
  const available = availableByUsage(nodes, items, fresh);
  if (typeof available !== 'string') return available;
  throw new TransientError(available, { code: 'scores.metrics', subject: 'metrics.k8s.io' });
}

/** Waits for changes of the objects that reflectors watch. */
class ChangeSignal {
  #hasChanged = false;
  #onChange: () => void = () => undefined;

  constructor(reflectors: readonly Reflector[]) {
    for (const { store } of reflectors)
      store.onChange(() => {
        this.#hasChanged = true;
        this.#onChange();
      });
  }

  /** Forgets the changes so far, because the caller reads them now. */
  clear(): void {
    this.#hasChanged = false;
  }

  /** Waits for the given time at most. After a change, waits SETTLE_MS and then returns. */
  async wait(clock: ProvideScoresOptions['clock'], atMostMs: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const end = (): void => stop.abort();
    this.#onChange = end;
    signal.addEventListener('abort', end, { once: true });
    if (!this.#hasChanged) await sleep(clock, atMostMs, stop.signal);
    signal.removeEventListener('abort', end);
    this.#onChange = () => undefined;
    if (this.#hasChanged) await sleep(clock, SETTLE_MS, signal);
  }
}

type NamedNode = NodeResources & { readonly metadata: { readonly name: string } };

/** The objects of a kind that were read so far. */
function objectsOf<T>(followed: { readonly reflector: Reflector } | undefined): readonly T[] {
  return (followed?.reflector.store.list() ?? []) as readonly T[];
}

function follow(
  { cluster: api, clock, random, log }: ProvideScoresOptions,
  kind: KindInfo,
  transform: (object: KubeObject) => KubeObject,
  signal: AbortSignal,
): { readonly reflector: Reflector; readonly running: Promise<void> } {
  const reflector = new Reflector({ api, kind, clock, random, log, transform });
  return { reflector, running: reflector.run(signal) };
}

function reduceNode({ apiVersion, kind, metadata, ...node }: KubeObject): KubeObject {
  const { spec, status } = node as NodeResources;
  return {
    apiVersion,
    kind,
    metadata: identityOf(metadata),
    spec: { unschedulable: spec?.unschedulable },
    status: { allocatable: status?.allocatable },
  };
}

function reducePod({ apiVersion, kind, metadata, ...pod }: KubeObject): KubeObject {
  const { spec, status } = pod as PodRequests;
  const reduceContainers = (list: NonNullable<PodRequests['spec']>['containers']) =>
    list?.map(({ resources, restartPolicy }) => ({
      resources: { requests: resources?.requests },
      restartPolicy,
    }));
  return {
    apiVersion,
    kind,
    metadata: identityOf(metadata),
    spec: {
      containers: reduceContainers(spec?.containers),
      initContainers: reduceContainers(spec?.initContainers),
      overhead: spec?.overhead,
    },
    status: { phase: status?.phase },
  };
}

function identityOf({
  name,
  namespace,
  uid,
  resourceVersion,
}: KubeObject['metadata']): KubeObject['metadata'] {
  return { name, namespace, uid, resourceVersion };
}
