import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, objectAt } from '../../json/json-value.ts';

/** The numbers of one kind's status as Kubernetes writes them out. */
export interface StatusCounts {
  /** Written even when they are 0. */
  readonly always?: readonly string[];
  /** Left out when they are 0. */
  readonly positive: readonly string[];
}

export const DEPLOYMENT_COUNTS: StatusCounts = {
  positive: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
  ],
};

export const REPLICA_SET_COUNTS: StatusCounts = {
  always: ['replicas'],
  positive: ['observedGeneration', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
};

export const STATEFUL_SET_COUNTS: StatusCounts = {
  always: ['replicas', 'availableReplicas'],
  positive: ['observedGeneration', 'readyReplicas', 'currentReplicas', 'updatedReplicas'],
};

export const DAEMON_SET_COUNTS: StatusCounts = {
  always: ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
  positive: ['observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
};

export const JOB_COUNTS: StatusCounts = { positive: ['active', 'succeeded', 'failed'] };

/** Status feedback, and clients that compare statuses, see the same numbers, and the same numbers missing, as on any cluster. */
export function statusWithCounts(status: JsonObject, counts: StatusCounts): JsonObject {
  const result: JsonObject = { ...status };
  for (const name of counts.always ?? []) result[name] = getOwn(status, name) ?? 0;
  for (const name of counts.positive) if (getOwn(status, name) === 0) delete result[name];
  return result;
}

/** The same for a whole object; one without a status stays without. */
export function withStatusCounts(object: JsonObject, counts: StatusCounts): JsonObject {
  const status = objectAt(object, 'status');
  return status === undefined ? object : { ...object, status: statusWithCounts(status, counts) };
}
