import type { JsonObject } from '../../json/json-value.ts';
import { objectAt } from '../../json/json-value.ts';
import { withOwnPodDefaults, withPodDefaults, withTemplateDefaults } from './pod-defaults.ts';
import type { Strategy } from './strategy.ts';
import {
  DAEMON_SET_COUNTS,
  DEPLOYMENT_COUNTS,
  REPLICA_SET_COUNTS,
  STATEFUL_SET_COUNTS,
  type StatusCounts,
  statusWithCounts,
  withStatusCounts,
} from './workload-status.ts';

/*
 * Workloads are stored with the defaults an API server fills in, so that clients and hashes see what they see elsewhere. Nothing here
 * runs them: their status stays what somebody writes into it.
 */
type SpecDefaults = (spec: JsonObject) => JsonObject;

function workload(counts: StatusCounts, defaults: SpecDefaults): Strategy {
  return {
    generation: true,
    fillIn: (object) => withStatusCounts(withSpec(object, defaults), counts),
    onCreate: (object) => ({ ...object, status: statusWithCounts({}, counts) }),
  };
}

function withSpec(object: JsonObject, defaults: SpecDefaults): JsonObject {
  const spec = objectAt(object, 'spec');
  return spec === undefined ? object : { ...object, spec: defaults(spec) };
}

const ROLLING = 'RollingUpdate';

export const DEPLOYMENT_STRATEGY = workload(DEPLOYMENT_COUNTS, (spec) => {
  const strategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'strategy') };
  if (strategy['type'] === ROLLING) {
    strategy['rollingUpdate'] = {
      maxSurge: '25%',
      maxUnavailable: '25%',
      ...objectAt(strategy, 'rollingUpdate'),
    };
  }
  const defaults = { progressDeadlineSeconds: 600, replicas: 1, revisionHistoryLimit: 10 };
  return withTemplateDefaults({ ...defaults, ...spec, strategy });
});

export const REPLICA_SET_STRATEGY = workload(REPLICA_SET_COUNTS, (spec) =>
  withTemplateDefaults({ replicas: 1, ...spec }),
);

export const STATEFUL_SET_STRATEGY = workload(STATEFUL_SET_COUNTS, (spec) => {
  const updateStrategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'updateStrategy') };
  if (updateStrategy['type'] === ROLLING) {
    updateStrategy['rollingUpdate'] = { partition: 0, ...objectAt(updateStrategy, 'rollingUpdate') };
  }
  const defaults = { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 };
  return withTemplateDefaults({ ...defaults, ...spec, updateStrategy });
});

export const DAEMON_SET_STRATEGY = workload(DAEMON_SET_COUNTS, (spec) => {
  const updateStrategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'updateStrategy') };
  if (updateStrategy['type'] === ROLLING) {
    updateStrategy['rollingUpdate'] = {
      maxSurge: 0,
      maxUnavailable: 1,
      ...objectAt(updateStrategy, 'rollingUpdate'),
    };
  }
  return withTemplateDefaults({ revisionHistoryLimit: 10, ...spec, updateStrategy });
});

/** Without a selector, it finds its pods by the labels of their template. */
export const REPLICATION_CONTROLLER_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) =>
    withSpec(object, (spec) => {
      const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
      const selects = Object.keys(objectAt(spec, 'selector') ?? {}).length > 0;
      return labels === undefined || selects ? spec : { ...spec, selector: labels };
    }),
};

const CRON_JOB_DEFAULTS = {
  concurrencyPolicy: 'Allow',
  failedJobsHistoryLimit: 1,
  successfulJobsHistoryLimit: 3,
  suspend: false,
};

export const CRON_JOB_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => withSpec(object, (spec) => ({ ...CRON_JOB_DEFAULTS, ...spec })),
  onCreate: (object) => ({ ...object, status: {} }),
};

export const POD_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    return spec === undefined ? object : { ...object, spec: withOwnPodDefaults(withPodDefaults(spec)) };
  },
  onCreate: (object) => ({ ...object, status: { phase: 'Pending', qosClass: 'BestEffort' } }),
};
