import { compareQuantities, parseQuantity } from '../../../core/model/quantity.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt } from '../../json/json-value.ts';

const COUNTED = ['cpu', 'memory'];

/** Status of a new pod. Source: pkg/registry/core/pod (PrepareForCreate). */
export function newPodStatus(spec: JsonObject, now: string): JsonObject {
  const gated = listAt(spec, 'schedulingGates').length > 0;
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
  return { phase: 'Pending', qosClass: qualityOf(spec), ...(gated && { conditions: [condition] }) };
}

/** Keeps the QoS class of a pod, which is set once. */
export function withQualityOf(old: JsonObject, pod: JsonObject): JsonObject {
  const quality = getOwn(objectAt(old, 'status') ?? {}, 'qosClass');
  if (quality === undefined) return pod;
  return { ...pod, status: { ...objectAt(pod, 'status'), qosClass: quality } };
}

/**
 * Source: pkg/apis/core/v1/helper/qos (ComputePodQOS). Pod-level resources take precedence over
 * those of containers.
 */
function qualityOf(spec: JsonObject): string {
  const whole = objectAt(spec, 'resources');
  const resources =
    whole === undefined
      ? [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].map(resourcesOf)
      : [whole];
  const named = (one: JsonObject, key: string): string[] =>
    COUNTED.filter((name) => isPositive(getOwn(objectAt(one, key) ?? {}, name)));
  const nothing = resources.every((one) => named(one, 'requests').length + named(one, 'limits').length === 0);
  if (nothing) return 'BestEffort';
  const guaranteed = resources.every(
    (one) =>
      named(one, 'limits').length === COUNTED.length && COUNTED.every((name) => asksForItsLimit(one, name)),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function resourcesOf(container: JsonValue): JsonObject {
  return isObject(container) ? (objectAt(container, 'resources') ?? {}) : {};
}

function isPositive(value: JsonValue | undefined): boolean {
  const quantity = typeof value === 'string' ? parseQuantity(value) : undefined;
  return quantity !== undefined && quantity.mantissa > 0n;
}

function asksForItsLimit(resources: JsonObject, name: string): boolean {
  const at = (key: string) => {
    const value = getOwn(objectAt(resources, key) ?? {}, name);
    return typeof value === 'string' ? parseQuantity(value) : undefined;
  };
  const [asked, limit] = [at('requests'), at('limits')];
  return asked === undefined || (limit !== undefined && compareQuantities(asked, limit) === 0);
}
