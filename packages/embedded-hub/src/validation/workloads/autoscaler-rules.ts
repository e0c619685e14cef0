import { formatQuantity } from '@berth/kube/model/quantity';
import { dnsLabel, pathSegment } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter, KindRules } from '../values/field-reporter.ts';
import {
  checkNonNegativeQuantity,
  quantityAt,
  checkContainerResourceName,
} from '../values/quantity-rules.ts';

const HOUR_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];
const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

/**
 * Source: pkg/apis/autoscaling/validation (ValidateHorizontalPodAutoscaler). autoscaling/v1 is
 * converted to v2 and then validated.
 */
export const AUTOSCALER_RULES: KindRules = {
  validate: (autoscaler, at, old) => {
    const spec = objectAt(autoscaler, 'spec') ?? {};
    const place = at.at('spec');
    const [min, max] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas') ?? 0];
    const before = objectAt(old, 'spec');
    const lowest = numberAt(before, 'minReplicas') === 0 ? 0 : 1;
    if (min !== undefined && min < lowest)
      place.at('minReplicas').invalid(min, `must be greater than or equal to ${String(lowest)}`);
    if (max < 1) place.at('maxReplicas').invalid(max, 'must be greater than 0');
    if (max < (min ?? 1))
      place.at('maxReplicas').invalid(max, 'must be greater than or equal to `minReplicas`');
    checkScaleTarget(spec, before, place.at('scaleTargetRef'));
    place.each(spec, 'metrics', checkMetric);
    if (min === 0 && !hasObjectOrExternalMetric(spec)) {
      const detail =
        'must specify at least one Object or External metric to support scaling to zero replicas';
      place.at('metrics').forbidden(detail);
    }
    const usage = numberAt(spec, 'targetCPUUtilizationPercentage');
    if (usage !== undefined && usage < 1) {
      const target = place.at('metrics').at(0).at('resource').at('target');
      target.at('averageUtilization').invalid(usage, 'must be greater than 0');
    }
    const behavior = objectAt(spec, 'behavior');
    for (const key of ['scaleUp', 'scaleDown'])
      checkScaling(objectAt(behavior, key), place.at('behavior').at(key));
  },
};

/** The scale target. The apiVersion of an unchanged target is not validated. */
function checkScaleTarget(spec: JsonObject, old: JsonObject | undefined, at: FieldReporter): void {
  const target = objectAt(spec, 'scaleTargetRef') ?? {};
  const before = objectAt(old, 'scaleTargetRef');
  checkReferenceNames(target, at);
  const [version, kind] = [textAt(target, 'apiVersion'), textAt(target, 'kind')];
  const same = textAt(before, 'apiVersion') === version && textAt(before, 'kind') === kind;
  if (before !== undefined && same) return;
  if (checkVersion(version, at) && !version.includes('/') && kind !== 'ReplicationController')
    at.at('apiVersion').invalid(version, 'apiVersion must specify API group');
}

/** Whether a metric exists without pods, so that a workload without replicas can be scaled up. */
function hasObjectOrExternalMetric(spec: JsonObject): boolean {
  return listAt(spec, 'metrics').some(
    (metric) => isObject(metric) && ['Object', 'External'].includes(textAt(metric, 'type')),
  );
}

function checkReference(reference: JsonObject, at: FieldReporter): void {
  checkReferenceNames(reference, at);
  checkVersion(textAt(reference, 'apiVersion'), at);
}

function checkReferenceNames(reference: JsonObject, at: FieldReporter): void {
  for (const key of ['kind', 'name']) {
    const text = textAt(reference, key);
    if (text === '') at.at(key).required();
    else at.at(key).validName(text, pathSegment);
  }
}

function checkVersion(version: string, at: FieldReporter): boolean {
  if (version.split('/').length <= 2) return true;
  at.at('apiVersion').invalid(version, `unexpected GroupVersion string: ${version}`);
  return false;
}

function checkScaling(rules: JsonObject | undefined, at: FieldReporter): void {
  if (rules === undefined) return;
  const seconds = numberAt(rules, 'stabilizationWindowSeconds');
  const window = at.at('stabilizationWindowSeconds');
  if (seconds !== undefined && seconds < 0) window.invalid(seconds, 'must be greater than or equal to zero');
  if (seconds !== undefined && seconds > HOUR_SECONDS)
    window.invalid(seconds, `must be less than or equal to ${String(HOUR_SECONDS)}`);
  at.at('selectPolicy').oneOfIfPresent(getOwn(rules, 'selectPolicy'), SELECT_POLICIES);
  if (Array.isArray(rules['policies']) && rules['policies'].length === 0)
    at.at('policies').required('must specify at least one Policy');
  at.each(rules, 'policies', checkPolicy);
  const tolerance = quantityAt(rules, 'tolerance');
  if (tolerance !== undefined) checkNonNegativeQuantity(tolerance, at.at('tolerance'));
}

function checkPolicy(policy: JsonObject, at: FieldReporter): void {
  const [type, value] = [textAt(policy, 'type'), numberAt(policy, 'value') ?? 0];
  if (!POLICY_TYPES.includes(type)) at.at('type').unsupported(type, POLICY_TYPES);
  if (value <= 0) at.at('value').invalid(value, 'must be greater than zero');
  const period = numberAt(policy, 'periodSeconds') ?? 0;
  if (period <= 0) at.at('periodSeconds').invalid(period, 'must be greater than zero');
  if (period > MAX_PERIOD_SECONDS)
    at.at('periodSeconds').invalid(period, `must be less than or equal to ${String(MAX_PERIOD_SECONDS)}`);
}

type SourceCheck = (source: JsonObject, at: FieldReporter) => void;

/** Metric sources in the order of the checks. */
const SOURCES: Readonly<Record<string, SourceCheck>> = {
  object: (source, at) => {
    checkReference(objectAt(source, 'describedObject') ?? {}, at.at('describedObject'));
    checkIdentifier(source, at);
    const { value, average } = checkTarget(source, at);
    if (!value && !average)
      at.at('target').at('averageValue').required('must set either a target value or averageValue');
  },
  external: (source, at) => {
    checkIdentifier(source, at);
    const { value, average } = checkTarget(source, at);
    const target = at.at('target');
    if (!value && !average)
      target.at('averageValue').required('must set either a target value for metric or a per-pod target');
    if (value && average)
      target.at('value').forbidden('may not set both a target value for metric and a per-pod target');
  },
  pods: (source, at) => {
    checkIdentifier(source, at);
    const { average } = checkTarget(source, at);
    if (!average) at.at('target').at('averageValue').required('must specify a positive target averageValue');
  },
  resource: (source, at) => {
    if (textAt(source, 'name') === '') at.at('name').required('must specify a resource name');
    checkUtilization(source, at);
  },
  containerResource: (source, at) => {
    const [name, container] = [textAt(source, 'name'), textAt(source, 'container')];
    if (name === '') at.at('name').required('must specify a resource name');
    else checkContainerResourceName(name, at.at('name'));
    if (container === '') at.at('container').required('must specify a container');
    else at.at('container').validName(container, dnsLabel);
    checkUtilization(source, at);
  },
};

function checkUtilization(source: JsonObject, at: FieldReporter): void {
  const { average, utilization } = checkTarget(source, at);
  const target = at.at('target');
  if (!utilization && !average)
    target.at('averageUtilization').required('must set either a target raw value or a target utilization');
  if (utilization && average)
    target.at('averageValue').forbidden('may not set both a target raw value and a target utilization');
}

function checkIdentifier(source: JsonObject, at: FieldReporter): void {
  const name = textAt(objectAt(source, 'metric'), 'name');
  if (name === '') at.at('metric').at('name').required('must specify a metric name');
  else at.at('metric').at('name').validName(name, pathSegment);
}

/** Which fields of a target are set. */
interface TargetFields {
  readonly value: boolean;
  readonly average: boolean;
  readonly utilization: boolean;
}

function checkTarget(source: JsonObject, at: FieldReporter): TargetFields {
  const target = objectAt(source, 'target') ?? {};
  const place = at.at('target');
  const type = textAt(target, 'type');
  if (type === '') place.at('type').required('must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    place.at('type').invalid(type, 'must be either Utilization, Value, or AverageValue');
  for (const key of ['value', 'averageValue']) {
    const quantity = quantityAt(target, key);
    if (quantity !== undefined && quantity.mantissa <= 0n)
      place.at(key).invalid(formatQuantity(quantity), 'must be positive');
  }
  const utilization = numberAt(target, 'averageUtilization');
  if (utilization !== undefined && utilization < 1)
    place.at('averageUtilization').invalid(utilization, 'must be greater than 0');
  return {
    value: quantityAt(target, 'value') !== undefined,
    average: quantityAt(target, 'averageValue') !== undefined,
    utilization: utilization !== undefined,
  };
}

function checkMetric(metric: JsonObject, at: FieldReporter): void {
  const type = textAt(metric, 'type');
  if (type === '') at.at('type').required('must specify a metric source type');
  if (!METRIC_TYPES.includes(type)) at.at('type').unsupported(type, METRIC_TYPES);
  const present = Object.keys(SOURCES).filter((key) => objectAt(metric, key) !== undefined);
  const [first] = present;
  if (first !== undefined) SOURCES[first]?.(objectAt(metric, first) as JsonObject, at.at(first));
  // As the API server, this reports an unknown type a second time.
  const expected = METRIC_TYPES.includes(type) ? type.charAt(0).toLowerCase() + type.slice(1) : undefined;
  if (expected === undefined) at.at('type').unsupported(type, METRIC_TYPES);
  else if (!present.includes(expected))
    at.at(expected).required('must populate information for the given metric source');
  if (present.length === 1) return;
  for (const key of present)
    if (key !== expected) at.at(key).forbidden('must populate the given metric source only');
}
