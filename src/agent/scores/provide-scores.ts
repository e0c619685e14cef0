import { Reflector } from '../../adapters/kube/cache/reflector.ts';
import { type KindInfo, NODE, POD } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { NodeResources } from '../../core/registration/agent/cluster-resources.ts';
import { type PodRequests, resourceUsageScores } from '../../core/scores/resource-usage-score.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/sleep.ts';
import { type ScoreWrite, writeScore } from './write-score.ts';

export interface ScoreDuty extends ScoreWrite {
  readonly cluster: KubeApi;
  /** How often the scores are computed, up to 10 % more by chance. */
  readonly refreshMs: number;
  readonly random: () => number;
}

/**
 * Keeps the scores `cpuAvailable` and `memAvailable` of a cluster current on its hub. While the cluster cannot be read nothing is written,
 * and the scores run out.
 */
export async function provideScores(duty: ScoreDuty, signal: AbortSignal): Promise<void> {
  const { clock, random, log, refreshMs } = duty;
  const nodes = follow(duty, NODE, slimNode, signal);
  const pods = follow(duty, POD, slimPod, signal);
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 }, random);
  await Promise.all([nodes.reflector.whenSynced(signal), pods.reflector.whenSynced(signal)]);
  while (!signal.aborted) {
    let waitMs = refreshMs * (1 + 0.1 * random());
    try {
      // What a watch does not confirm for so long is no news.
      const staleMs = Math.max(nodes.reflector.stalenessMs(), pods.reflector.stalenessMs());
      if (staleMs < duty.validMs)
        await writeScore(duty, resourceUsageScores(listed<NodeResources>(nodes), listed<PodRequests>(pods)));
      backoff.reset();
    } catch (error) {
      waitMs = Math.min(waitMs, backoff.nextMs());
      log.warn('scores cannot be written yet', { cluster: duty.clusterName, error });
    }
    await sleep(clock, waitMs, signal);
  }
  await Promise.all([nodes.running, pods.running]);
}

/** Objects of a kind as far as they are read. */
function listed<T>({ reflector }: { readonly reflector: Reflector }): readonly T[] {
  return reflector.store.list() as readonly T[];
}

function follow(
  { cluster: api, clock, random, log }: ScoreDuty,
  kind: KindInfo,
  transform: (object: KubeObject) => KubeObject,
  signal: AbortSignal,
): { readonly reflector: Reflector; readonly running: Promise<void> } {
  const reflector = new Reflector({ api, kind, clock, random, log, transform });
  return { reflector, running: reflector.run(signal) };
}

function slimNode({ apiVersion, kind, metadata, ...node }: KubeObject): KubeObject {
  const { spec, status } = node as NodeResources;
  return {
    apiVersion,
    kind,
    metadata: identityOf(metadata),
    spec: { unschedulable: spec?.unschedulable },
    status: { allocatable: status?.allocatable },
  };
}

function slimPod({ apiVersion, kind, metadata, ...pod }: KubeObject): KubeObject {
  const { spec, status } = pod as PodRequests;
  const slim = (list: NonNullable<PodRequests['spec']>['containers']) =>
    list?.map(({ resources, restartPolicy }) => ({
      resources: { requests: resources?.requests },
      restartPolicy,
    }));
  return {
    apiVersion,
    kind,
    metadata: identityOf(metadata),
    spec: {
      containers: slim(spec?.containers),
      initContainers: slim(spec?.initContainers),
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
