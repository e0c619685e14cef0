import { type JsonObject, appendAll } from '../../json/json-value.ts';
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
} from './column.ts';

/** Entries of a map, as `data` of a ConfigMap. */
function sizeOf(object: JsonObject, ...paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + Object.keys(valueAt(object, path) ?? {}).length, 0);
}

function podReady(pod: JsonObject): string {
  const statuses = itemsOf(pod, 'status.containerStatuses');
  const ready = statuses.filter((status) => status['ready'] === true).length;
  return `${String(ready)}/${String(itemsOf(pod, 'spec.containers').length)}`;
}

function podStatus(pod: JsonObject): string {
  if (valueAt(pod, 'metadata.deletionTimestamp') !== undefined) return 'Terminating';
  for (const status of itemsOf(pod, 'status.containerStatuses')) {
    const reason =
      textOf(status, 'state.waiting.reason', '') || textOf(status, 'state.terminated.reason', '');
    if (reason !== '') return reason;
  }
  return textOf(pod, 'status.reason', '') || textOf(pod, 'status.phase', 'Unknown');
}

const restarts = (pod: JsonObject): number =>
  itemsOf(pod, 'status.containerStatuses').reduce((sum, status) => sum + numberOf(status, 'restartCount'), 0);

export const POD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', podReady),
  column('Status', podStatus),
  column('Restarts', (pod) => String(restarts(pod))),
  AGE_COLUMN,
  wide('IP', (pod) => textOf(pod, 'status.podIP')),
  wide('Node', (pod) => textOf(pod, 'spec.nodeName')),
  wide('Nominated Node', (pod) => textOf(pod, 'status.nominatedNodeName')),
  wide('Readiness Gates', () => '<none>'),
];

function servicePorts(service: JsonObject): string {
  const ports = itemsOf(service, 'spec.ports').map((port) => {
    const node = numberOf(port, 'nodePort');
    const number = String(numberOf(port, 'port'));
    return `${number}${node > 0 ? `:${String(node)}` : ''}/${textOf(port, 'protocol', 'TCP')}`;
  });
  return ports.length === 0 ? '<none>' : ports.join(',');
}

function externalAddress(service: JsonObject): string {
  const type = textOf(service, 'spec.type', 'ClusterIP');
  if (type === 'ExternalName') return textOf(service, 'spec.externalName');
  const addresses = itemsOf(service, 'status.loadBalancer.ingress').map(
    (one) => textOf(one, 'ip', '') || textOf(one, 'hostname', ''),
  );
  const declared = valueAt(service, 'spec.externalIPs');
  if (Array.isArray(declared))
    appendAll(
      addresses,
      declared.filter((one) => typeof one === 'string'),
    );
  if (addresses.length > 0) return addresses.join(',');
  return type === 'LoadBalancer' ? '<pending>' : '<none>';
}

export const SERVICE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Type', (service) => textOf(service, 'spec.type', 'ClusterIP')),
  fieldColumn('Cluster-IP', 'spec.clusterIP'),
  column('External-IP', externalAddress),
  column('Port(s)', servicePorts),
  AGE_COLUMN,
  wide('Selector', (service) => labelsText(valueAt(service, 'spec.selector'))),
];

function nodeStatus(node: JsonObject): string {
  const ready = itemsOf(node, 'status.conditions').find((condition) => condition['type'] === 'Ready');
  const text = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return valueAt(node, 'spec.unschedulable') === true ? `${text},SchedulingDisabled` : text;
}

function nodeRoles(node: JsonObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const labels = Object.keys(valueAt(node, 'metadata.labels') ?? {});
  const roles = labels.filter((label) => label.startsWith(prefix)).map((label) => label.slice(prefix.length));
  return roles.length === 0 ? '<none>' : roles.sort().join(',');
}

export const NODE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', nodeStatus),
  column('Roles', nodeRoles),
  AGE_COLUMN,
  column('Version', (node) => textOf(node, 'status.nodeInfo.kubeletVersion', '')),
];

/**
 * The columns of both Event kinds.
 * @param about path of the object that the event is about
 * @param message path of the message
 * @param counted path of the number of occurrences
 */
function eventColumns(about: string, message: string, counted: string): readonly Column[] {
  const subject = (event: JsonObject): string =>
    `${textOf(event, `${about}.kind`, '').toLowerCase()}/${textOf(event, `${about}.name`, '')}`;
  const lastSeen = (event: JsonObject): unknown =>
    valueAt(event, 'series.lastObservedTime') ??
    valueAt(event, counted === 'count' ? 'lastTimestamp' : 'deprecatedLastTimestamp') ??
    valueAt(event, 'eventTime') ??
    valueAt(event, 'metadata.creationTimestamp');
  const firstSeen = (event: JsonObject): unknown =>
    valueAt(event, counted === 'count' ? 'firstTimestamp' : 'deprecatedFirstTimestamp') ??
    valueAt(event, 'eventTime') ??
    valueAt(event, 'metadata.creationTimestamp');
  return [
    column('Last Seen', (event, now) => ageText(lastSeen(event), now)),
    column('Type', (event) => textOf(event, 'type', '')),
    column('Reason', (event) => textOf(event, 'reason', '')),
    column('Object', subject),
    wide('Subobject', (event) => textOf(event, `${about}.fieldPath`, '')),
    wide(
      'Source',
      (event) =>
        textOf(event, 'source.component', '') ||
        textOf(event, 'reportingComponent', '') ||
        textOf(event, 'reportingController', ''),
    ),
    column('Message', (event) => textOf(event, message, '').trim()),
    wide('First Seen', (event, now) => ageText(firstSeen(event), now)),
    wide('Count', (event) =>
      String(Math.max(1, numberOf(event, 'series.count') || numberOf(event, counted))),
    ),
    { ...NAME_COLUMN, priority: 1 },
  ];
}

export const EVENT_COLUMNS = eventColumns('involvedObject', 'message', 'count');
export const NEW_EVENT_COLUMNS = eventColumns('regarding', 'note', 'deprecatedCount');

export const NAMESPACE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  fieldColumn('Status', 'status.phase'),
  AGE_COLUMN,
];

export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Data', (object) => sizeOf(object, 'data', 'binaryData'), { type: 'integer' }),
  AGE_COLUMN,
];

export const SECRET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  fieldColumn('Type', 'type'),
  column('Data', (object) => sizeOf(object, 'data'), { type: 'integer' }),
  AGE_COLUMN,
];

export const SERVICE_ACCOUNT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Secrets', (object) => itemsOf(object, 'secrets').length, { type: 'integer' }),
  AGE_COLUMN,
];

export const CLAIM_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', (claim) => textOf(claim, 'status.phase', '')),
  column('Volume', (claim) => textOf(claim, 'spec.volumeName', '')),
  column('Capacity', (claim) => textOf(claim, 'status.capacity.storage', '')),
  column('Access Modes', (claim) => accessModes(valueAt(claim, 'status.accessModes'))),
  column('StorageClass', (claim) => textOf(claim, 'spec.storageClassName', '')),
  AGE_COLUMN,
];

export const VOLUME_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Capacity', (volume) => textOf(volume, 'spec.capacity.storage', '')),
  column('Access Modes', (volume) => accessModes(valueAt(volume, 'spec.accessModes'))),
  column('Reclaim Policy', (volume) => textOf(volume, 'spec.persistentVolumeReclaimPolicy', '')),
  column('Status', (volume) => textOf(volume, 'status.phase', '')),
  column('Claim', (volume) => {
    const name = textOf(volume, 'spec.claimRef.name', '');
    return name === '' ? '' : `${textOf(volume, 'spec.claimRef.namespace', '')}/${name}`;
  }),
  column('StorageClass', (volume) => textOf(volume, 'spec.storageClassName', '')),
  AGE_COLUMN,
];

const MODE_LETTERS: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(modes: unknown): string {
  if (!Array.isArray(modes)) return '';
  return modes.map((mode) => MODE_LETTERS[String(mode)] ?? String(mode)).join(',');
}

export const ENDPOINTS_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Endpoints', (object) => {
    const addresses = itemsOf(object, 'subsets').flatMap((subset) =>
      itemsOf(subset, 'addresses').flatMap((address) =>
        itemsOf(subset, 'ports').map((port) => `${textOf(address, 'ip')}:${String(numberOf(port, 'port'))}`),
      ),
    );
    if (addresses.length === 0) return '<none>';
    return addresses.length <= 3
      ? addresses.join(',')
      : `${addresses.slice(0, 3).join(',')} + ${String(addresses.length - 3)} more...`;
  }),
  AGE_COLUMN,
];

export const REPLICATION_CONTROLLER_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  countColumn('Desired', 'spec.replicas'),
  countColumn('Current', 'status.replicas'),
  countColumn('Ready', 'status.readyReplicas'),
  AGE_COLUMN,
];
