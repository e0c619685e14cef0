import { dnsSubdomain, qualifiedName } from '@berth/kube/model/selector/name-rules';
import { getOwn, type JsonObject, numberAt, objectAt, textAt } from '../json/json-value.ts';
import { groupResource } from '@berth/kube/model/kinds';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { checkLegacyIp, parseLegacyIp } from './values/ip-rules.ts';
import type { FieldReporter } from './values/field-reporter.ts';

/** @param object the whole object that a write to `status` would store */
type StatusRule = (status: JsonObject, at: FieldReporter, object: JsonObject) => void;

const OF_ALL = 'cannot be greater than status.replicas';
const OF_READY = 'cannot be greater than readyReplicas';

/**
 * Counts that must not be negative, in the order of the checks, and those that must not exceed
 * `replicas`.
 */
function counts(all: readonly string[], parts: readonly string[], ready = OF_READY): StatusRule {
  return (status, at) => {
    const count = (name: string): number => numberAt(status, name) ?? 0;
    for (const name of all) at.at(name).nonNegative(count(name));
    for (const name of parts) if (count(name) > count('replicas')) at.at(name).invalid(count(name), OF_ALL);
    const available = count('availableReplicas');
    if (parts.length > 0 && available > count('readyReplicas'))
      at.at('availableReplicas').invalid(available, ready);
  };
}

const REPLICA_SET = counts(
  [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  ],
  ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
);

/** By `plural.group`. Source: the Validate…StatusUpdate functions of pkg/apis/core, apps and policy/validation. */
const RULES: Readonly<Record<string, StatusRule>> = {
  'deployments.apps': counts(
    [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ],
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  ),
  'replicasets.apps': REPLICA_SET,
  replicationcontrollers: REPLICA_SET,
  'statefulsets.apps': counts(
    [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    'cannot be greater than status.readyReplicas',
  ),
  'daemonsets.apps': counts(
    [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    [],
  ),
  'poddisruptionbudgets.policy': (status, at, object) => {
    checkConditions(status, at);
    counts(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'], [])(
      status,
      at,
      object,
    );
  },
  services: checkBalancer,
  'validatingadmissionpolicies.admissionregistration.k8s.io': checkPolicyStatus,
};

/** Checks a write to the status of a built-in kind. */
export function checkStatus({ definition }: ResourceRef, object: JsonObject, at: FieldReporter): void {
  const key = groupResource(definition);
  if (Object.hasOwn(RULES, key)) RULES[key]?.(objectAt(object, 'status') ?? {}, at.at('status'), object);
}

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const MAX_REASON_LENGTH = 1024;
const MAX_MESSAGE_LENGTH = 32 * 1024;

/** Source: apimachinery, pkg/apis/meta/v1/validation (ValidateConditions). */
function checkConditions(status: JsonObject, at: FieldReporter): void {
  const types = new Set<string>();
  at.each(status, 'conditions', (condition, place) => {
    const type = textAt(condition, 'type');
    if (types.has(type)) place.at('type').duplicate(type);
    types.add(type);
    place.at('type').validName(type, qualifiedName);
    const value = textAt(condition, 'status');
    if (!STATUSES.includes(value)) place.at('status').unsupported(value, STATUSES);
    const generation = numberAt(condition, 'observedGeneration') ?? 0;
    if (generation < 0)
      place.at('observedGeneration').invalid(generation, 'must be greater than or equal to zero');
    if (textAt(condition, 'lastTransitionTime') === '') place.at('lastTransitionTime').required();
    const [reason, message] = [textAt(condition, 'reason'), textAt(condition, 'message')];
    if (reason === '') place.at('reason').required();
    else if (!REASON.test(reason)) place.at('reason').invalid(reason, REASON_TEXT);
    if (reason.length > MAX_REASON_LENGTH) place.at('reason').tooLong(MAX_REASON_LENGTH);
    if (message.length > MAX_MESSAGE_LENGTH) place.at('message').tooLong(MAX_MESSAGE_LENGTH);
  });
}

/** Source: pkg/apis/admissionregistration/validation (validateValidatingAdmissionPolicyStatus). A `fieldRef` is not parsed. */
function checkPolicyStatus(status: JsonObject, at: FieldReporter): void {
  const warnings = at.at('typeChecking');
  warnings.each(objectAt(status, 'typeChecking'), 'expressionWarnings', (warning, place) => {
    if (textAt(warning, 'warning') === '') place.at('warning').required();
    if (textAt(warning, 'fieldRef').trim() === '') place.at('fieldRef').required();
  });
  checkConditions(status, at);
}

const IP_MODES = ['Proxy', 'VIP'];

/** Source: pkg/apis/core/validation (ValidateLoadBalancerStatus). */
function checkBalancer(status: JsonObject, at: FieldReporter, service: JsonObject): void {
  const balancer = objectAt(status, 'loadBalancer');
  const place = at.at('loadBalancer');
  const type = textAt(objectAt(service, 'spec'), 'type');
  const ingress = getOwn(balancer ?? {}, 'ingress');
  if (type !== 'LoadBalancer' && Array.isArray(ingress) && ingress.length > 0) {
    place.at('ingress').forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  place.each(balancer, 'ingress', (one, entry) => {
    const [ip, mode, hostname] = [textAt(one, 'ip'), getOwn(one, 'ipMode'), textAt(one, 'hostname')];
    if (ip !== '') checkLegacyIp(ip, entry.at('ip'));
    if (typeof mode === 'string') {
      if (ip === '') entry.at('ipMode').forbidden('may not be specified when `ip` is not set');
      else if (!IP_MODES.includes(mode)) entry.at('ipMode').unsupported(mode, IP_MODES);
    }
    if (hostname === '') return;
    entry.at('hostname').validName(hostname, dnsSubdomain);
    if (parseLegacyIp(hostname) !== undefined)
      entry.at('hostname').invalid(hostname, 'must be a DNS name, not an IP address');
  });
}
