import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { withJobTemplateDefaults } from './job-strategy.ts';
import {
  templateLabels,
  withLabelsOfTemplate,
  withOwnPodDefaults,
  withPodDefaults,
  withTemplateDefaults,
} from './pod-defaults.ts';
import { newPodStatus, keepQosClass } from './pod-status.ts';
import { withClaimDefaults } from './storage-strategies.ts';
import type { Strategy } from './strategy.ts';

/**
 * Workloads are stored with the defaults of the API server, so that clients and hashes get the same
 * objects as on a real cluster. The hub does not run them: their status changes only when a client
 * writes it.
 */
type SpecDefaults = (spec: JsonObject) => JsonObject;

function workload(defaults: SpecDefaults): Strategy {
  return { generation: true, fillIn: (object) => withSpec(object, defaults) };
}

function withSpec(object: JsonObject, defaults: SpecDefaults): JsonObject {
  const spec = objectAt(object, 'spec');
  return spec === undefined ? object : { ...object, spec: defaults(spec) };
}

const ROLLING = 'RollingUpdate';

export const DEPLOYMENT_STRATEGY = workload((spec) => {
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

export const REPLICA_SET_STRATEGY = workload((spec) => withTemplateDefaults({ replicas: 1, ...spec }));

/** Source: pkg/apis/apps/v1 (SetDefaults_StatefulSet, Convert_apps_StatefulSetSpec_To_v1_StatefulSetSpec). */
export const STATEFUL_SET_STRATEGY = workload((spec) => {
  const updateStrategy: JsonObject = { ...objectAt(spec, 'updateStrategy') };
  const chosen = textAt(updateStrategy, 'type') !== '';
  const rolling = objectAt(updateStrategy, 'rollingUpdate') ?? (chosen ? undefined : {});
  updateStrategy['type'] ??= ROLLING;
  if (updateStrategy['type'] === ROLLING && rolling !== undefined)
    updateStrategy['rollingUpdate'] = { partition: 0, ...rolling };
  const persistentVolumeClaimRetentionPolicy = {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
    ...objectAt(spec, 'persistentVolumeClaimRetentionPolicy'),
  };
  const defaults = { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 };
  const filled: JsonObject = { ...defaults, ...spec, updateStrategy, persistentVolumeClaimRetentionPolicy };
  if (Array.isArray(spec['volumeClaimTemplates']))
    filled['volumeClaimTemplates'] = listAt(spec, 'volumeClaimTemplates').map(withTemplateOfClaim);
  return withTemplateDefaults(filled);
});

function withTemplateOfClaim(template: JsonValue): JsonValue {
  if (!isObject(template)) return template;
  return {
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: withClaimDefaults(objectAt(template, 'spec') ?? {}),
    status: { phase: 'Pending', ...objectAt(template, 'status') },
  };
}

const DAEMON_SET_DEFAULTS: SpecDefaults = (spec) => {
  const updateStrategy: JsonObject = { type: ROLLING, ...objectAt(spec, 'updateStrategy') };
  if (updateStrategy['type'] === ROLLING) {
    updateStrategy['rollingUpdate'] = {
      maxSurge: 0,
      maxUnavailable: 1,
      ...objectAt(updateStrategy, 'rollingUpdate'),
    };
  }
  return withTemplateDefaults({ revisionHistoryLimit: 10, ...spec, updateStrategy });
};

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/**
 * An annotation counts the changes of its template. Source: pkg/registry/apps/daemonset,
 * pkg/apis/apps/v1 (conversion).
 */
export const DAEMON_SET_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object, old) => {
    const filled = withSpec(object, DAEMON_SET_DEFAULTS);
    const annotations = objectAt(objectAt(old, 'metadata'), 'annotations');
    const before = old === undefined ? 0 : Number(textAt(annotations, TEMPLATE_GENERATION));
    const templateOf = (one: JsonObject | undefined): JsonObject | undefined =>
      objectAt(objectAt(one, 'spec'), 'template');
    const same = deepEqual(templateOf(filled), templateOf(old));
    const metadata = objectAt(filled, 'metadata') ?? {};
    const generation = { [TEMPLATE_GENERATION]: String(same ? before : before + 1) };
    return {
      ...filled,
      metadata: { ...metadata, annotations: { ...objectAt(metadata, 'annotations'), ...generation } },
    };
  },
};

/**
 * The labels of the template are the default of its selector and of its own labels. Source:
 * pkg/apis/core/v1 (SetDefaults_ReplicationController).
 */
export const REPLICATION_CONTROLLER_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => {
    const filled = withSpec(object, (spec) => {
      const labels = templateLabels(spec);
      const selects = Object.keys(objectAt(spec, 'selector') ?? {}).length > 0;
      const selector = labels === undefined || selects ? {} : { selector: labels };
      return withTemplateDefaults({ replicas: 1, ...spec, ...selector });
    });
    return withLabelsOfTemplate(filled);
  },
};

const CRON_JOB_DEFAULTS = {
  concurrencyPolicy: 'Allow',
  failedJobsHistoryLimit: 1,
  successfulJobsHistoryLimit: 3,
  suspend: false,
};

export const CRON_JOB_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) =>
    withSpec(object, (spec) => {
      const template = objectAt(spec, 'jobTemplate');
      const jobSpec = objectAt(template, 'spec');
      const filled = { ...CRON_JOB_DEFAULTS, ...spec };
      if (jobSpec === undefined) return filled;
      return { ...filled, jobTemplate: { ...template, spec: withJobTemplateDefaults(jobSpec) } };
    }),
};

export const POD_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    return spec === undefined ? object : { ...object, spec: withOwnPodDefaults(withPodDefaults(spec)) };
  },
  onCreate: (object, now) => ({ ...object, status: newPodStatus(objectAt(object, 'spec') ?? {}, now) }),
  onUpdate: (object, old) => keepQosClass(old, object),
};

export const POD_TEMPLATE_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => withTemplateDefaults(object),
};
