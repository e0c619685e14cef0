import { Reflector } from '@berth/kube/cache/reflector';
import { DEPLOYMENT, kind, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText, InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { behaviourOf, type SimulatedBehaviour } from './simulation-options.ts';

const CONTAINER_STATES = {
  Pending: () => ({ waiting: { reason: 'ContainerCreating' } }),
  Running: (startedAt: string) => ({ running: { startedAt } }),
  Failed: () => ({ terminated: { exitCode: 1, reason: 'Error' } }),
} as const;

export interface WorkloadSimulationOptions {
  readonly cluster: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Default time until a workload is ready. Default 1 s. */
  readonly readyAfterMs?: number;
}

export interface WorkloadSimulation {
  close(): Promise<void>;
}

const SIMULATED: readonly KindInfo[] = [
  DEPLOYMENT,
  kind('apps', 'v1', 'StatefulSet', 'Namespaced'),
  kind('apps', 'v1', 'DaemonSet', 'Namespaced'),
  kind('batch', 'v1', 'Job', 'Namespaced'),
  kind('', 'v1', 'Pod', 'Namespaced'),
];

/**
 * Simulates workloads of a cluster without nodes: after a delay their status becomes that of
 * running workloads, or as annotations request. It writes only status.
 */
export function startWorkloadSimulation(options: WorkloadSimulationOptions): WorkloadSimulation {
  const stop = new AbortController();
  const runs = SIMULATED.map((kind) => new KindSimulation(kind, options).run(stop.signal));
  return {
    close: async () => {
      stop.abort();
      await Promise.all(runs);
    },
  };
}

/** The kinds that are simulated, by `group/Kind`. */
const STATUS_RULES: Readonly<Record<string, StatusRule>> = {
  'apps/Deployment': deploymentStatus,
  'apps/StatefulSet': statefulSetStatus,
  'apps/DaemonSet': daemonSetStatus,
  'batch/Job': jobStatus,
  '/Pod': podStatus,
};

class KindSimulation {
  readonly #kind: KindInfo;
  readonly #options: WorkloadSimulationOptions;
  readonly #reflector: Reflector;
  /** When this version of a workload was first seen, by uid. */
  readonly #started = new Map<string, { readonly generation: number | undefined; readonly atMs: number }>();
  readonly #timers = new Map<string, () => void>();
  readonly #writing = new Set<string>();

  constructor(kind: KindInfo, options: WorkloadSimulationOptions) {
    this.#kind = kind;
    this.#options = options;
    const { cluster: api, clock, log, random = Math.random } = options;
    this.#reflector = new Reflector({ api, kind, clock, log, random });
    this.#reflector.store.onChange(({ key, before, after }) => {
      if (after === undefined) this.#forget(key, before);
      else this.#reconcile(key);
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #forget(key: string, before: KubeObject | undefined): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    this.#started.delete(before?.metadata.uid ?? '');
  }

  #reconcile(key: string): void {
    const workload = this.#reflector.store.get(key);
    if (workload === undefined || this.#writing.has(key)) return;
    const { clock, readyAfterMs = 1_000 } = this.#options;
    const behaviour = behaviourOf(workload, readyAfterMs);
    if (behaviour.fate === 'hang') return;
    const waitMs = this.#startedAtMs(workload) + behaviour.readyAfterMs - clock.now();
    const rule = STATUS_RULES[`${this.#kind.group}/${this.#kind.kind}`];
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const wanted = rule?.(workload, { now, due: waitMs <= 0, fate: behaviour.fate }) ?? {};
    const patch = statusPatch(workload['status'], wanted);
    if (patch !== undefined) void this.#write(key, workload, patch);
    else if (waitMs > 0) this.#requeue(key, waitMs);
  }

  /** A workload that had finished before the simulation started does not start again. */
  #startedAtMs(workload: KubeObject): number {
    const { uid = '', generation } = workload.metadata;
    const known = this.#started.get(uid);
    if (known !== undefined && (known.generation === generation || this.#kind.kind === 'Job'))
      return known.atMs;
    const status = workload['status'] as { observedGeneration?: number; phase?: string } | undefined;
    const isObserved =
      known === undefined && generation !== undefined && status?.observedGeneration === generation;
    const atMs = isObserved ? -Infinity : this.#options.clock.now();
    this.#started.set(uid, { generation, atMs });
    return atMs;
  }

  #requeue(key: string, afterMs: number): void {
    this.#timers.get(key)?.();
    this.#timers.set(
      key,
      this.#options.clock.schedule(afterMs, () => this.#reconcile(key)),
    );
  }

  async #write(key: string, { metadata }: KubeObject, status: object): Promise<void> {
    const { cluster, log } = this.#options;
    const { uid, resourceVersion, namespace = '', name } = metadata;
    this.#writing.add(key);
    try {
      const patch = { metadata: { uid, resourceVersion }, status };
      const options = { subresource: 'status', fieldManager: 'berth-simulation' } as const;
      const written = await cluster.mergePatch(this.#kind, { namespace, name }, patch, options);
      this.#writing.delete(key);
      this.#reflector.putWritten(written);
      this.#reconcile(namespacedName(written.metadata));
    } catch (error) {
      this.#writing.delete(key);
      // It was changed or deleted: a watch event follows.
      if (error instanceof ConflictError || error instanceof InputError) return;
      log.debug('status of a simulated workload cannot be written yet', { key, problem: errorText(error) });
      this.#requeue(key, 1_000);
    }
  }
}

type Status = Readonly<Record<string, unknown>>;

/** Inputs of the simulated status of a workload at a time. */
interface WorkloadMoment {
  /** RFC 3339, seconds. */
  readonly now: string;
  /** The time it needs to become ready has passed. */
  readonly due: boolean;
  readonly fate: SimulatedBehaviour['fate'];
}

type StatusRule = (workload: KubeObject, moment: WorkloadMoment) => Status;

function replicasOf(workload: KubeObject): number {
  const replicas = (workload['spec'] as { replicas?: unknown } | undefined)?.replicas;
  return typeof replicas === 'number' ? replicas : 1;
}

function deploymentStatus(workload: KubeObject, { now, due, fate }: WorkloadMoment): Status {
  const replicas = replicasOf(workload);
  const ready = due && fate === 'succeed' ? replicas : 0;
  const failed = due && fate === 'fail';
  const progressing = failed
    ? condition('Progressing', 'False', now, {
        reason: 'ProgressDeadlineExceeded',
        message: 'has timed out progressing.',
      })
    : condition('Progressing', 'True', now, {
        reason: due ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
        message: due ? 'has successfully progressed.' : 'is progressing.',
      });
  const available =
    ready === replicas
      ? condition('Available', 'True', now, {
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        })
      : condition('Available', 'False', now, {
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        });
  return {
    observedGeneration: workload.metadata.generation,
    ...positive({
      replicas,
      updatedReplicas: replicas,
      readyReplicas: ready,
      availableReplicas: ready,
      unavailableReplicas: replicas - ready,
    }),
    conditions: [available, progressing],
  };
}

function statefulSetStatus(workload: KubeObject, { due, fate }: WorkloadMoment): Status {
  const replicas = replicasOf(workload);
  const ready = due && fate === 'succeed' ? replicas : 0;
  return {
    observedGeneration: workload.metadata.generation,
    replicas,
    availableReplicas: ready,
    ...positive({ currentReplicas: replicas, updatedReplicas: replicas, readyReplicas: ready }),
  };
}

/** A simulated cluster has one node. */
function daemonSetStatus(workload: KubeObject, { due, fate }: WorkloadMoment): Status {
  const ready = due && fate === 'succeed' ? 1 : 0;
  return {
    observedGeneration: workload.metadata.generation,
    currentNumberScheduled: 1,
    desiredNumberScheduled: 1,
    numberMisscheduled: 0,
    numberReady: ready,
    updatedNumberScheduled: 1,
    ...positive({ numberAvailable: ready, numberUnavailable: 1 - ready }),
  };
}

function jobStatus(workload: KubeObject, { now, due, fate }: WorkloadMoment): Status {
  const startTime = workload.metadata.creationTimestamp ?? now;
  const completions = (workload['spec'] as { completions?: unknown } | undefined)?.completions;
  const wanted = typeof completions === 'number' ? completions : 1;
  if (!due) return { startTime, ready: 0, ...positive({ active: wanted }) };
  if (fate === 'fail')
    return {
      startTime,
      failed: 1,
      conditions: [
        condition('Failed', 'True', now, {
          reason: 'BackoffLimitExceeded',
          message: 'Job has reached the specified backoff limit',
        }),
      ],
    };
  return {
    startTime,
    completionTime: now,
    ...positive({ succeeded: wanted }),
    conditions: [
      condition('Complete', 'True', now, {
        reason: 'CompletionsReached',
        message: 'Reached expected number of succeeded pods',
      }),
    ],
  };
}

function podStatus(workload: KubeObject, { now, due, fate }: WorkloadMoment): Status {
  const startTime = workload.metadata.creationTimestamp ?? now;
  const ready = due && fate === 'succeed';
  const phase = !due ? 'Pending' : ready ? 'Running' : 'Failed';
  return {
    phase,
    startTime,
    conditions: [
      condition('Ready', ready ? 'True' : 'False', now, ready ? {} : { reason: 'ContainersNotReady' }),
      condition('PodScheduled', 'True', startTime, {}),
    ],
    containerStatuses: containerStatuses(workload, phase, startTime),
  };
}

/** kubectl counts these for its column READY. */
function containerStatuses(
  pod: KubeObject,
  phase: keyof typeof CONTAINER_STATES,
  startedAt: string,
): readonly Status[] {
  const { containers = [] } = (pod['spec'] ?? {}) as {
    containers?: readonly { name: string; image?: string }[];
  };
  return containers.map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready: phase === 'Running',
    started: phase === 'Running',
    restartCount: 0,
    state: CONTAINER_STATES[phase](startedAt),
  }));
}

function condition(
  type: string,
  status: string,
  lastTransitionTime: string,
  why: { readonly reason?: string; readonly message?: string },
): Status {
  return { type, status, lastTransitionTime, ...why };
}

/** Zero is omitted, as in the API server; otherwise the status would never equal the stored one. */
function positive(counts: Readonly<Record<string, number>>): Status {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

type Fields = Readonly<Record<string, unknown>>;

/** The merge patch from the current to the wanted status; undefined if only times differ. */
function statusPatch(current: unknown, wanted: Fields): Fields | undefined {
  const before = (current ?? {}) as Fields;
  if (jsonEqual(withoutTimes(before), withoutTimes(wanted))) return undefined;
  const gone = Object.keys(before).filter((key) => wanted[key] === undefined);
  return { ...wanted, ...Object.fromEntries(gone.map((key) => [key, null])) };
}

/** Time fields, which are not compared: they only record when other fields changed. */
const TIMES = new Set([
  'lastTransitionTime',
  'lastUpdateTime',
  'lastProbeTime',
  'startTime',
  'completionTime',
]);

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !TIMES.has(key))
      .map(([key, item]) => [key, withoutTimes(item)]),
  );
}
