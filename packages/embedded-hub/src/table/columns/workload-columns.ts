import type { JsonObject } from '../../json/json-value.ts';
import {
  type Column,
  AGE_COLUMN,
  column,
  countColumn,
  fieldColumn,
  itemsOf,
  labelsText,
  NAME_COLUMN,
  numberOf,
  textOf,
  valueAt,
  wide,
  ageText,
  humanDuration,
} from './column.ts';

const containers =
  (field: string): ((object: JsonObject) => string) =>
  (object) =>
    itemsOf(object, 'spec.template.spec.containers')
      .map((one) => textOf(one, field))
      .join(',');

const POD_TEMPLATE: readonly Column[] = [
  wide('Containers', containers('name')),
  wide('Images', containers('image')),
  wide('Selector', (object) => labelsText(valueAt(object, 'spec.selector.matchLabels'))),
];

const ratio =
  (ready: string, desired: string): ((object: JsonObject) => string) =>
  (object) =>
    `${String(numberOf(object, ready))}/${String(numberOf(object, desired))}`;

export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', ratio('status.readyReplicas', 'spec.replicas')),
  countColumn('Up-to-date', 'status.updatedReplicas'),
  countColumn('Available', 'status.availableReplicas'),
  AGE_COLUMN,
  ...POD_TEMPLATE,
];

export const REPLICA_SET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  countColumn('Desired', 'spec.replicas'),
  countColumn('Current', 'status.replicas'),
  countColumn('Ready', 'status.readyReplicas'),
  AGE_COLUMN,
  ...POD_TEMPLATE,
];

export const STATEFUL_SET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', ratio('status.readyReplicas', 'spec.replicas')),
  AGE_COLUMN,
  ...POD_TEMPLATE.slice(0, 2),
];

export const DAEMON_SET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  countColumn('Desired', 'status.desiredNumberScheduled'),
  countColumn('Current', 'status.currentNumberScheduled'),
  countColumn('Ready', 'status.numberReady'),
  countColumn('Up-to-date', 'status.updatedNumberScheduled'),
  countColumn('Available', 'status.numberAvailable'),
  column('Node Selector', (object) => labelsText(valueAt(object, 'spec.template.spec.nodeSelector'))),
  AGE_COLUMN,
  ...POD_TEMPLATE,
];

function jobStatus(job: JsonObject): string {
  const holds = (type: string): boolean =>
    itemsOf(job, 'status.conditions').some((one) => one['type'] === type && one['status'] === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (valueAt(job, 'metadata.deletionTimestamp') !== undefined) return 'Terminating';
  return holds('Suspended') ? 'Suspended' : 'Running';
}

function jobDuration(job: JsonObject, now: number): string {
  const start = textOf(job, 'status.startTime', '');
  if (start === '') return '';
  const end = textOf(job, 'status.completionTime', '');
  return humanDuration((end === '' ? now : Date.parse(end)) - Date.parse(start));
}

export const JOB_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', jobStatus),
  column(
    'Completions',
    (job) => `${String(numberOf(job, 'status.succeeded'))}/${textOf(job, 'spec.completions', '1')}`,
  ),
  column('Duration', jobDuration),
  AGE_COLUMN,
  ...POD_TEMPLATE,
];

export const CRON_JOB_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  fieldColumn('Schedule', 'spec.schedule'),
  column('Timezone', (job) => textOf(job, 'spec.timeZone')),
  column('Suspend', (job) => (valueAt(job, 'spec.suspend') === true ? 'True' : 'False')),
  column('Active', (job) => itemsOf(job, 'status.active').length, { type: 'integer' }),
  column('Last Schedule', (job, now) => {
    const last = valueAt(job, 'status.lastScheduleTime');
    return last === undefined ? '<none>' : ageText(last, now);
  }),
  AGE_COLUMN,
];

export const AUTOSCALER_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column(
    'Reference',
    (one) => `${textOf(one, 'spec.scaleTargetRef.kind', '')}/${textOf(one, 'spec.scaleTargetRef.name', '')}`,
  ),
  column('Targets', (one) => (itemsOf(one, 'spec.metrics').length === 0 ? '<none>' : '<unknown>')),
  column('MinPods', (one) => textOf(one, 'spec.minReplicas', '<unset>')),
  countColumn('MaxPods', 'spec.maxReplicas'),
  countColumn('Replicas', 'status.currentReplicas'),
  AGE_COLUMN,
];

export const DISRUPTION_BUDGET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Min Available', (one) => textOf(one, 'spec.minAvailable', 'N/A')),
  column('Max Unavailable', (one) => textOf(one, 'spec.maxUnavailable', 'N/A')),
  countColumn('Allowed Disruptions', 'status.disruptionsAllowed'),
  AGE_COLUMN,
];
