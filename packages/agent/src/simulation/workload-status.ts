import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SimulatedBehaviour } from './simulation-options.ts';

type Status = Readonly<Record<string, unknown>>;

/** Inputs of the simulated status of a workload at a time. */
export interface WorkloadMoment {
  /** RFC 3339, seconds. */
  readonly now: string;
  /** The time it needs to become ready has passed. */
  readonly due: boolean;
  readonly fate: SimulatedBehaviour['fate'];
}

type StatusRule = (workload: KubeObject, moment: WorkloadMoment) => Status;

/** The kinds that are simulated, by `group/Kind`. */
export const STATUS_RULES: Readonly<Record<string, StatusRule>> = {
  'apps/Deployment': deploymentStatus,
  'apps/StatefulSet': statefulSetStatus,
  'apps/DaemonSet': daemonSetStatus,
  'batch/Job': jobStatus,
  '/Pod': podStatus,
};

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

const CONTAINER_STATES = {
  Pending: () => ({ waiting: { reason: 'ContainerCreating' } }),
  Running: (startedAt: string) => ({ running: { startedAt } }),
  Failed: () => ({ terminated: { exitCode: 1, reason: 'Error' } }),
} as const;

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
