import { groupResource } from '@berth/kube/model/kinds';
import { type Quantity, compareQuantities } from '@berth/kube/model/quantity';
import { dnsLabel, dns1035Label, pathSegment, qualifiedName } from '@berth/kube/model/selector/name-rules';
import {
  numberAt,
  objectAt,
  textAt,
  type JsonObject,
  listAt,
  textsAt,
  type JsonValue,
  getOwn,
  deepEqual,
} from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import {
  ADMISSION_POLICY_RULES,
  POLICY_BINDING_RULES,
  WEBHOOK_CONFIGURATION_RULES,
} from './admission-rules.ts';
import { API_SERVICE_RULES } from './api-service-rules.ts';
import { CERTIFICATE_REQUEST_RULES } from './certificate-request-rules.ts';
import { CONFIG_MAP_RULES, SECRET_RULES } from './config-rules.ts';
import { ENDPOINTS_RULES, ENDPOINT_SLICE_RULES } from './network/endpoint-rules.ts';
import { INGRESS_CLASS_RULES, INGRESS_RULES } from './network/ingress-rules.ts';
import { SERVICE_RULES } from './network/service-rules.ts';
import { NODE_RULES } from './node-rules.ts';
import { checkClaimSpec } from './pod/claim-spec.ts';
import { POD_RULES, POD_TEMPLATE_RULES } from './pod/pod-rules.ts';
import { QUOTA_RULES, LIMIT_RANGE_RULES } from './limit-rules.ts';
import {
  CLUSTER_ROLE_BINDING_RULES,
  CLUSTER_ROLE_RULES,
  ROLE_BINDING_RULES,
  ROLE_RULES,
} from './rbac-rules.ts';
import { VOLUME_RULES, ATTACHMENT_RULES, STORAGE_CLASS_RULES } from './storage-rules.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { checkLegacyCidr, isWithin, parseLegacyCidr } from './values/ip-rules.ts';
import { checkSelector } from './values/metadata-rules.ts';
import { checkPort, portName } from './values/port-rules.ts';
import { quantityAt, ZERO } from './values/quantity-rules.ts';
import { semanticEqual } from './values/semantic-equal.ts';
import { checkReviewVersions, checkWebhookClient } from './values/webhook-client-rules.ts';
import {
  CONTROLLER_REVISION_RULES,
  DAEMON_SET_RULES,
  DEPLOYMENT_RULES,
  REPLICATION_CONTROLLER_RULES,
  REPLICA_SET_RULES,
  STATEFUL_SET_RULES,
} from './workloads/apps-rules.ts';
import { AUTOSCALER_RULES } from './workloads/autoscaler-rules.ts';
import { DISRUPTION_BUDGET_RULES, PRIORITY_CLASS_RULES } from './workloads/eviction-rules.ts';
import { CRON_JOB_RULES, JOB_RULES } from './workloads/job-rules.ts';

/** Source: pkg/apis/core/validation (ValidateNamespace). */
const NAMESPACE_RULES: KindRules = { name: dnsLabel, metadataChecks: 4, validate: () => undefined };

/** Source: pkg/apis/core/validation (ValidateServiceAccount). */
const SERVICE_ACCOUNT_RULES: KindRules = { metadataChecks: 4, validate: () => undefined };

/** Source: pkg/apis/coordination/validation (ValidateLease). */
const LEASE_RULES: KindRules = {
  anyFinalizer: true,
  validate: (lease, at) => {
    const spec = objectAt(lease, 'spec') ?? {};
    const place = at.at('spec');
    place.at('leaseDurationSeconds').positive(numberAt(spec, 'leaseDurationSeconds'));
    place.at('leaseTransitions').nonNegative(numberAt(spec, 'leaseTransitions'));
    if (textAt(spec, 'preferredHolder') !== '' && textAt(spec, 'strategy') === '')
      place.at('preferredHolder').forbidden('may only be specified if `strategy` is defined');
  },
};

/** A CustomResourceDefinition. The strategy of the kind checks the schema. */
const DEFINITION_RULES: KindRules = {
  anyFinalizer: true,
  validate: (definition, at) => {
    const spec = objectAt(definition, 'spec');
    const names = at.at('spec').at('names');
    for (const list of ['shortNames', 'categories'])
      for (const [index, name] of textsAt(objectAt(spec, 'names'), list).entries())
        names.at(list).at(index).validName(name, dns1035Label);
    const conversion = objectAt(spec, 'conversion');
    if (conversion !== undefined) checkConversion(conversion, at.at('spec').at('conversion'));
  },
};

/** Source: pkg/apis/core/validation (ValidatePersistentVolumeClaim, ValidatePersistentVolumeClaimUpdate). */
const CLAIM_RULES: KindRules = {
  metadataChecks: 4,
  validate: (claim, at, old) => {
    const spec = objectAt(claim, 'spec') ?? {};
    checkClaimSpec(spec, at.at('spec'));
    if (old !== undefined) checkClaimChange(claim, old, at);
  },
};

/** Source: pkg/apis/core/validation/events.go (ValidateEventCreate, ValidateEventUpdate). */
const EVENT_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 2,
  anyFinalizer: true,
  validate: checkEvent,
};

/** Events of events.k8s.io. Source: the same. */
const EVENTS_V1_RULES: KindRules = { validate: checkEvent };

/** Source: pkg/apis/networking/validation (ValidateNetworkPolicy). */
const NETWORK_POLICY_RULES: KindRules = {
  metadataChecks: 4,
  validate: (policy, at, old) => {
    const spec = objectAt(policy, 'spec') ?? {};
    checkPolicySpec(spec, at.at('spec'));
    // The API server validates an update twice, and reports each problem twice.
    if (old !== undefined) checkPolicySpec(spec, at.at('spec'));
  },
};

/** The rules of each kind, by `plural.group`. */
const RULES: Readonly<Record<string, KindRules>> = {
  'customresourcedefinitions.apiextensions.k8s.io': DEFINITION_RULES,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_REQUEST_RULES,
  'apiservices.apiregistration.k8s.io': API_SERVICE_RULES,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': WEBHOOK_CONFIGURATION_RULES,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': WEBHOOK_CONFIGURATION_RULES,
  'validatingadmissionpolicies.admissionregistration.k8s.io': ADMISSION_POLICY_RULES,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': POLICY_BINDING_RULES,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASS_RULES,
  'volumeattachments.storage.k8s.io': ATTACHMENT_RULES,
  'storageclasses.storage.k8s.io': STORAGE_CLASS_RULES,
  persistentvolumes: VOLUME_RULES,
  persistentvolumeclaims: CLAIM_RULES,
  'events.events.k8s.io': EVENTS_V1_RULES,
  events: EVENT_RULES,
  nodes: NODE_RULES,
  serviceaccounts: SERVICE_ACCOUNT_RULES,
  namespaces: NAMESPACE_RULES,
  'horizontalpodautoscalers.autoscaling': AUTOSCALER_RULES,
  'cronjobs.batch': CRON_JOB_RULES,
  'jobs.batch': JOB_RULES,
  replicationcontrollers: REPLICATION_CONTROLLER_RULES,
  'controllerrevisions.apps': CONTROLLER_REVISION_RULES,
  'daemonsets.apps': DAEMON_SET_RULES,
  'statefulsets.apps': STATEFUL_SET_RULES,
  'replicasets.apps': REPLICA_SET_RULES,
  'deployments.apps': DEPLOYMENT_RULES,
  podtemplates: POD_TEMPLATE_RULES,
  pods: POD_RULES,
  'endpointslices.discovery.k8s.io': ENDPOINT_SLICE_RULES,
  endpoints: ENDPOINTS_RULES,
  'networkpolicies.networking.k8s.io': NETWORK_POLICY_RULES,
  'ingressclasses.networking.k8s.io': INGRESS_CLASS_RULES,
  'ingresses.networking.k8s.io': INGRESS_RULES,
  'leases.coordination.k8s.io': LEASE_RULES,
  'poddisruptionbudgets.policy': DISRUPTION_BUDGET_RULES,
  'clusterrolebindings.rbac.authorization.k8s.io': CLUSTER_ROLE_BINDING_RULES,
  'rolebindings.rbac.authorization.k8s.io': ROLE_BINDING_RULES,
  'clusterroles.rbac.authorization.k8s.io': CLUSTER_ROLE_RULES,
  'roles.rbac.authorization.k8s.io': ROLE_RULES,
  limitranges: LIMIT_RANGE_RULES,
  resourcequotas: QUOTA_RULES,
  secrets: SECRET_RULES,
  configmaps: CONFIG_MAP_RULES,
  services: SERVICE_RULES,
};

/** The rules of a built-in kind; undefined if it has none beyond its schema and metadata. */
export function rulesOf(ref: ResourceRef): KindRules | undefined {
  const key = groupResource(ref.definition);
  return Object.hasOwn(RULES, key) ? RULES[key] : undefined;
}

/** Checks `spec.conversion`. Messages name the fields as the API server's internal version does. */
function checkConversion(conversion: JsonObject, at: FieldReporter): void {
  const strategy = textAt(conversion, 'strategy');
  at.at('strategy').oneOf(strategy, ['None', 'Webhook']);
  const webhook = objectAt(conversion, 'webhook');
  const client = objectAt(webhook, 'clientConfig');
  const place = at.at('webhookClientConfig');
  if (strategy !== 'Webhook') {
    if (client !== undefined) place.forbidden('should not be set when strategy is not set to Webhook');
    if (listAt(webhook, 'conversionReviewVersions').length > 0)
      at.at('conversionReviewVersions').forbidden('should not be set when strategy is not set to Webhook');
    return;
  }
  if (client === undefined) place.required('required when strategy is set to Webhook');
  else checkWebhookClient(client, place);
  checkReviewVersions(webhook ?? {}, 'conversionReviewVersions', at);
}

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

function checkClaimChange(claim: JsonObject, old: JsonObject, at: FieldReporter): void {
  const [spec, before] = [objectAt(claim, 'spec') ?? {}, objectAt(old, 'spec') ?? {}];
  const annotation = (one: JsonObject): string =>
    textAt(objectAt(objectAt(one, 'metadata'), 'annotations'), CLASS_ANNOTATION);
  if (annotation(claim) !== annotation(old))
    at.at('metadata').at('annotations').at(CLASS_ANNOTATION).invalid(annotation(claim), 'field is immutable');
  const bound = textAt(objectAt(claim, 'status'), 'phase') === 'Bound';
  if (!semanticEqual(fixedClaim(spec, before, bound), fixedClaim(before, before, bound))) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    at.at('spec').forbidden(detail);
  }
  const size = (one: JsonObject): Quantity =>
    quantityAt(objectAt(objectAt(one, 'resources'), 'requests'), 'storage') ?? ZERO;
  const [now, then] = [size(spec), size(before)];
  const capacity = quantityAt(objectAt(objectAt(old, 'status'), 'capacity'), 'storage') ?? ZERO;
  if (compareQuantities(now, then) < 0 && compareQuantities(now, capacity) <= 0) {
    const place = at.at('spec').at('resources').at('requests').at('storage');
    place.forbidden('field can not be less than status.capacity');
  }
  const mode = (one: JsonObject): JsonValue => getOwn(one, 'volumeMode') ?? 'Filesystem';
  at.at('volumeMode').immutable(mode(spec), mode(before));
}

/** The immutable part of a claim. The volume name and the storage class may be set once. */
function fixedClaim(spec: JsonObject, old: JsonObject, bound: boolean): JsonObject {
  const fixed: JsonObject = { volumeMode: 'Filesystem', ...spec };
  if (textAt(old, 'volumeName') === '') delete fixed['volumeName'];
  if (getOwn(old, 'storageClassName') === undefined) delete fixed['storageClassName'];
  if (!bound) return fixed;
  delete fixed['volumeAttributesClassName'];
  const resources = { ...objectAt(fixed, 'resources') };
  const requests = { ...objectAt(resources, 'requests') };
  delete requests['storage'];
  return { ...fixed, resources: { ...resources, requests } };
}

const EVENT_LIMIT = 128;
const NOTE_LIMIT = 1024;

/** Whether an Event has the fields of events.k8s.io/v1. Problems name the fields of core/v1 all the same. */
const isEventsV1 = (event: JsonObject): boolean => textAt(event, 'apiVersion') !== 'v1';

function checkEvent(event: JsonObject, at: FieldReporter, old: JsonObject | undefined): void {
  const eventsV1 = isEventsV1(event);
  checkReference(event, eventsV1, at);
  if (!eventsV1) return;
  if (old === undefined) checkCreatedEvent(event, at);
  else checkEventChange(event, old, at);
}

/** Checks what both API groups require: the namespace of the object, and the fields of an Event with a time. */
function checkReference(event: JsonObject, eventsV1: boolean, at: FieldReporter): void {
  const object = objectAt(event, eventsV1 ? 'regarding' : 'involvedObject');
  const [own, others] = [textAt(objectAt(event, 'metadata'), 'namespace'), textAt(object, 'namespace')];
  const place = at.at('involvedObject').at('namespace');
  const timed = textAt(event, 'eventTime') !== '';
  const home = timed ? ['default', 'kube-system'] : ['', 'default'];
  const misplaced = others === '' ? !home.includes(own) : !timed && own !== others;
  if (misplaced) place.invalid(others, 'does not match event.namespace');
  if (timed) checkTimedEvent(event, eventsV1, at);
}

function checkTimedEvent(event: JsonObject, eventsV1: boolean, at: FieldReporter): void {
  const name = eventsV1 ? 'reportingController' : 'reportingComponent';
  const controller = textAt(event, name);
  if (controller === '') at.at(name).required();
  at.at(name).validName(controller, qualifiedName);
  for (const key of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(event, key);
    if (text === '') at.at(key).required();
    if (text.length > EVENT_LIMIT)
      at.at(key).invalid('', `can have at most ${String(EVENT_LIMIT)} characters`);
  }
  if (textAt(event, eventsV1 ? 'note' : 'message').length > NOTE_LIMIT)
    at.at('message').invalid('', `can have at most ${String(NOTE_LIMIT)} characters`);
}

function checkCreatedEvent(event: JsonObject, at: FieldReporter): void {
  checkSeries(event, at);
  if (textAt(event, 'eventTime') === '') at.at('eventTime').required();
  const type = textAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') at.at('type').invalid('', `has invalid value: ${type}`);
  for (const [key, old] of [
    ['deprecatedFirstTimestamp', 'firstTimestamp'],
    ['deprecatedLastTimestamp', 'lastTimestamp'],
  ] as const)
    if (textAt(event, key) !== '') at.at(old).invalid('', 'needs to be unset');
  if ((numberAt(event, 'deprecatedCount') ?? 0) !== 0) at.at('count').invalid('', 'needs to be unset');
  const source = objectAt(event, 'deprecatedSource');
  if (textAt(source, 'component') !== '' || textAt(source, 'host') !== '')
    at.at('source').invalid('', 'needs to be unset');
}

function checkSeries(event: JsonObject, at: FieldReporter): void {
  const series = objectAt(event, 'series');
  if (series === undefined) return;
  if ((numberAt(series, 'count') ?? 0) < 2) at.at('series.count').invalid('', 'should be at least 2');
  if (textAt(series, 'lastObservedTime') === '') at.at('series.lastObservedTime').required();
}

/** Immutable fields with their names in messages. The API server checks `reason` twice. */
const FIXED_EVENT_FIELDS = [
  ['regarding', 'involvedObject'],
  ['reason', 'reason'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reason', 'reason'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingController', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
] as const;

function checkEventChange(event: JsonObject, old: JsonObject, at: FieldReporter): void {
  if (!deepEqual(getOwn(event, 'series'), getOwn(old, 'series'))) checkSeries(event, at);
  for (const [key, shown] of FIXED_EVENT_FIELDS)
    at.at(shown).immutable(getOwn(event, key) ?? emptyOf(old, key), getOwn(old, key) ?? emptyOf(event, key));
}

/** An absent string is equal to an empty one. */
function emptyOf(other: JsonObject, key: string): '' | null {
  return typeof getOwn(other, key) === 'string' ? '' : null;
}

const POLICY_PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = ['Ingress', 'Egress'];

function checkPolicySpec(spec: JsonObject, at: FieldReporter): void {
  checkSelector(objectAt(spec, 'podSelector'), at.at('podSelector'));
  for (const [rules, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const)
    at.each(spec, rules, (rule, place) => {
      place.each(rule, 'ports', checkPolicyPort);
      place.each(rule, peers, checkPeer);
    });
  const types = textsAt(spec, 'policyTypes');
  if (types.length > POLICY_TYPES.length)
    at.at('policyTypes').invalid([...types], 'may not specify more than two policyTypes');
  else
    for (const [index, type] of types.entries())
      if (!POLICY_TYPES.includes(type)) at.at('policyTypes').at(index).unsupported(type, POLICY_TYPES);
}

function checkPolicyPort(port: JsonObject, at: FieldReporter): void {
  at.at('protocol').oneOfIfPresent(getOwn(port, 'protocol'), POLICY_PROTOCOLS);
  const [value, end] = [getOwn(port, 'port'), numberAt(port, 'endPort')];
  const place = at.at('endPort');
  if (typeof value === 'number') {
    checkPort(value, at.at('port'));
    if (end !== undefined && end < value) place.invalid(value, 'must be greater than or equal to `port`');
    if (end !== undefined) checkPort(end, place);
  } else if (typeof value === 'string') {
    if (end !== undefined) place.invalid(end, 'may not be specified when `port` is non-numeric');
    at.at('port').validName(value, portName);
  } else if (end !== undefined) place.invalid(end, 'may not be specified when `port` is not specified');
}

function checkPeer(peer: JsonObject, at: FieldReporter): void {
  const block = objectAt(peer, 'ipBlock');
  const selectors = ['podSelector', 'namespaceSelector'].filter((key) => objectAt(peer, key) !== undefined);
  for (const key of selectors) checkSelector(objectAt(peer, key), at.at(key));
  if (block !== undefined) checkBlock(block, at.at('ipBlock'));
  if (block === undefined && selectors.length === 0) at.required('must specify a peer');
  else if (block !== undefined && selectors.length > 0)
    at.forbidden('may not specify both ipBlock and another peer');
}

function checkBlock(block: JsonObject, at: FieldReporter): void {
  const text = textAt(block, 'cidr');
  if (text === '') {
    at.at('cidr').required();
    return;
  }
  if (!checkLegacyCidr(text, at.at('cidr'))) return;
  const whole = parseLegacyCidr(text);
  for (const [index, except] of listAt(block, 'except').entries()) {
    const place = at.at('except').at(index);
    if (typeof except !== 'string' || !checkLegacyCidr(except, place)) continue;
    const part = parseLegacyCidr(except);
    if (whole === undefined || part === undefined) continue;
    if (!isWithin(part, whole) || part.prefix <= whole.prefix)
      place.invalid(except, 'must be a strict subset of `cidr`');
  }
}
