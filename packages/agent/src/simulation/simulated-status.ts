import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { completionsOf, isFinishedJob, replicasOf } from './plan-children.ts';
import type { SimulatedBehaviour } from './simulation-options.ts';

const CONTAINER_STATES = {
  Pending: () => ({ waiting: { reason: 'ContainerCreating' } }),
  Running: (startedAt: string) => ({ running: { startedAt } }),
  Succeeded: () => ({ terminated: { exitCode: 0, reason: 'Completed' } }),
  Failed: () => ({ terminated: { exitCode: 1, reason: 'Error' } }),
} as const;

type Status = Readonly<Record<string, unknown>>;

/** Inputs of the simulated status of a workload at a time. */
export interface WorkloadMoment {
  /** RFC 3339, seconds. */
  readonly now: string;
  /** The time it needs to become ready has passed. */
  readonly due: boolean;
  readonly fate: SimulatedBehaviour['fate'];
}

export type StatusRule = (workload: KubeObject, moment: WorkloadMoment) => Status;

export function deploymentStatus(workload: KubeObject, { now, due, fate }: WorkloadMoment): Status {
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

export function replicaSetStatus(workload: KubeObject, { due, fate }: WorkloadMoment): Status {
  const replicas = replicasOf(workload);
  const ready = due && fate === 'succeed' ? replicas : 0;
  return {
    observedGeneration: workload.metadata.generation,
    replicas,
    ...positive({ fullyLabeledReplicas: replicas, readyReplicas: ready, availableReplicas: ready }),
  };
}

export function statefulSetStatus(workload: KubeObject, { due, fate }: WorkloadMoment): Status {
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
export function daemonSetStatus(workload: KubeObject, { due, fate }: WorkloadMoment): Status {
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

export function jobStatus(workload: KubeObject, { now, due, fate }: WorkloadMoment): Status {
  const startTime = workload.metadata.creationTimestamp ?? now;
  const wanted = completionsOf(workload);
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

export function podStatus(workload: KubeObject, { now, due, fate }: WorkloadMoment): Status {
  const startTime = workload.metadata.creationTimestamp ?? now;
  const isOfJob = controllerOf(workload)?.kind === 'Job';
  const phase = !due ? 'Pending' : fate === 'fail' ? 'Failed' : isOfJob ? 'Succeeded' : 'Running';
  const ready = phase === 'Running';
  const why = phase === 'Succeeded' ? 'PodCompleted' : 'ContainersNotReady';
  return {
    phase,
    startTime,
    conditions: [
      condition('Ready', ready ? 'True' : 'False', now, ready ? {} : { reason: why }),
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
export function statusPatch(current: unknown, wanted: Fields): Fields | undefined {
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

/** Whether a status says that the workload reached its end before: it does not start again. */
export function hasStarted(workload: KubeObject): boolean {
  const { observedGeneration, phase = 'Pending' } = (workload['status'] ?? {}) as {
    readonly observedGeneration?: number;
    readonly phase?: string;
  };
  const isObserved = observedGeneration !== undefined && observedGeneration === workload.metadata.generation;
  return isObserved || phase !== 'Pending' || isFinishedJob(workload);
}

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
