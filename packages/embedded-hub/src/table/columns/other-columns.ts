import { isObject, type JsonObject } from '../../json/json-value.ts';
import type { Column } from './column.ts';
import {
  AGE_COLUMN,
  column,
  fieldColumn,
  itemsOf,
  labelsText,
  NAME_COLUMN,
  numberOf,
  textOf,
  valueAt,
  wide,
} from './column.ts';

const UNSET = '<unset>';

const lengthColumn = (name: string, path: string): Column =>
  column(name, (object) => itemsOf(object, path).length, { type: 'integer' });

const CREATED = column('Created At', (object) => textOf(object, 'metadata.creationTimestamp', ''), {
  type: 'date',
  format: 'date-time',
});

export const CREATED_COLUMNS: readonly Column[] = [NAME_COLUMN, CREATED];

const role = (binding: JsonObject): string =>
  `${textOf(binding, 'roleRef.kind', '')}/${textOf(binding, 'roleRef.name', '')}`;

const subjects =
  (kind: string): ((binding: JsonObject) => string) =>
  (binding) =>
    itemsOf(binding, 'subjects')
      .filter((subject) => subject['kind'] === kind)
      .map((subject) => {
        const name = textOf(subject, 'name', '');
        return kind === 'ServiceAccount' ? `${textOf(subject, 'namespace', '')}/${name}` : name;
      })
      .join(', ');

export const BINDING_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Role', role),
  AGE_COLUMN,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

export const WEBHOOK_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  lengthColumn('Webhooks', 'webhooks'),
  AGE_COLUMN,
];

export const POLICY_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  lengthColumn('Validations', 'spec.validations'),
  column('ParamKind', (policy) => {
    const kind = valueAt(policy, 'spec.paramKind');
    return isObject(kind) ? `${textOf(kind, 'apiVersion', '')}/${textOf(kind, 'kind', '')}` : UNSET;
  }),
  AGE_COLUMN,
];

export const POLICY_BINDING_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  fieldColumn('PolicyName', 'spec.policyName'),
  column('ParamRef', paramText),
  AGE_COLUMN,
];

function requestCondition(request: JsonObject): string {
  const types = itemsOf(request, 'status.conditions').map((condition) => textOf(condition, 'type', ''));
  const words: string[] = [];
  if (types.includes('Denied')) words.push('Denied');
  else if (types.includes('Approved')) words.push('Approved');
  else words.push('Pending');
  if (types.includes('Failed')) words.push('Failed');
  if (textOf(request, 'status.certificate', '') !== '') words.push('Issued');
  return words.join(',');
}

export const CERTIFICATE_REQUEST_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  AGE_COLUMN,
  fieldColumn('SignerName', 'spec.signerName'),
  column('Requestor', (request) => textOf(request, 'spec.username', '')),
  column('RequestedDuration', (request) => {
    const seconds = numberOf(request, 'spec.expirationSeconds');
    return seconds === 0 ? '<none>' : `${String(seconds)}s`;
  }),
  column('Condition', requestCondition),
];

export const LEASE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Holder', (lease) => textOf(lease, 'spec.holderIdentity', '')),
  AGE_COLUMN,
];

function available(service: JsonObject): string {
  const condition = itemsOf(service, 'status.conditions').find((one) => one['type'] === 'Available');
  if (condition === undefined) return 'Unknown';
  const status = textOf(condition, 'status', 'Unknown');
  return status === 'True' ? status : `${status} (${textOf(condition, 'reason', '')})`;
}

export const API_SERVICE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Service', (one) => {
    const name = textOf(one, 'spec.service.name', '');
    return name === '' ? 'Local' : `${textOf(one, 'spec.service.namespace', '')}/${name}`;
  }),
  column('Available', available),
  AGE_COLUMN,
];

export const INGRESS_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Class', (one) => textOf(one, 'spec.ingressClassName')),
  column(
    'Hosts',
    (one) =>
      itemsOf(one, 'spec.rules')
        .map((rule) => textOf(rule, 'host', '*'))
        .join(',') || '*',
  ),
  column('Address', (one) =>
    itemsOf(one, 'status.loadBalancer.ingress')
      .map((at) => textOf(at, 'ip', '') || textOf(at, 'hostname', ''))
      .join(','),
  ),
  column('Ports', (one) => (itemsOf(one, 'spec.tls').length > 0 ? '80, 443' : '80')),
  AGE_COLUMN,
];

export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Pod-Selector', (one) => labelsText(valueAt(one, 'spec.podSelector.matchLabels'))),
  AGE_COLUMN,
];

export const STORAGE_CLASS_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  fieldColumn('Provisioner', 'provisioner'),
  column('ReclaimPolicy', (one) => textOf(one, 'reclaimPolicy', 'Delete')),
  column('VolumeBindingMode', (one) => textOf(one, 'volumeBindingMode', 'Immediate')),
  column('AllowVolumeExpansion', (one) => valueAt(one, 'allowVolumeExpansion') === true, { type: 'boolean' }),
  AGE_COLUMN,
];

export const PRIORITY_CLASS_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Value', (one) => numberOf(one, 'value'), { type: 'integer' }),
  column('Global-Default', (one) => valueAt(one, 'globalDefault') === true, { type: 'boolean' }),
  AGE_COLUMN,
];

/** A selector is printed as JSON; an API server prints its Go value. */
function paramText(binding: JsonObject): string {
  const ref = valueAt(binding, 'spec.paramRef');
  if (!isObject(ref)) return UNSET;
  const name = textOf(ref, 'name', '');
  return name === '' ? textOf(ref, 'selector', UNSET) : `${textOf(ref, 'namespace', '*')}/${name}`;
}
