import { compareQuantities, parseQuantity } from '@berth/kube/model/quantity';
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
  return { phase: 'Pending', qosClass: qosClassOf(spec), ...(gated && { conditions: [condition] }) };
}

/** Keeps the QoS class of a pod, which is set once. */
export function keepQosClass(old: JsonObject, pod: JsonObject): JsonObject {
  const qosClass = getOwn(objectAt(old, 'status') ?? {}, 'qosClass');
  if (qosClass === undefined) return pod;
  return { ...pod, status: { ...objectAt(pod, 'status'), qosClass } };
}

/**
 * Source: pkg/apis/core/v1/helper/qos (ComputePodQOS). Pod-level resources take precedence over
 * those of containers.
 */
function qosClassOf(spec: JsonObject): string {
  const podResources = objectAt(spec, 'resources');
  const resources =
    podResources === undefined
      ? [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].map(resourcesOf)
      : [podResources];
  const positiveNames = (one: JsonObject, key: string): string[] =>
    COUNTED.filter((name) => isPositive(getOwn(objectAt(one, key) ?? {}, name)));
  const isEmpty = resources.every(
    (one) => positiveNames(one, 'requests').length + positiveNames(one, 'limits').length === 0,
  );
  if (isEmpty) return 'BestEffort';
  const guaranteed = resources.every(
    (one) =>
      positiveNames(one, 'limits').length === COUNTED.length &&
      COUNTED.every((name) => requestEqualsLimit(one, name)),
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

function requestEqualsLimit(resources: JsonObject, name: string): boolean {
  const quantityAt = (key: string) => {
    const value = getOwn(objectAt(resources, key) ?? {}, name);
    return typeof value === 'string' ? parseQuantity(value) : undefined;
  };
  const [request, limit] = [quantityAt('requests'), quantityAt('limits')];
  return request === undefined || (limit !== undefined && compareQuantities(request, limit) === 0);
}
