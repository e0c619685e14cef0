import { appendAll } from '../../json/append-all.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';

const TARGET = 'targetCPUUtilizationPercentage';
/** The annotation in which v1 keeps metrics that have no field. */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

/** autoscaling/v2 -> v1: the CPU target has a field, every other metric goes into an annotation. */
export function autoscalerToV1(object: JsonObject): JsonObject {
  const { metrics: _metrics, behavior: _behavior, ...spec } = objectAt(object, 'spec') ?? {};
  const metrics = listAt(objectAt(object, 'spec'), 'metrics');
  const cpu = metrics.find((metric) => cpuTarget(metric) !== undefined);
  const rest = metrics.filter((metric) => metric !== cpu);
  const target = cpu === undefined ? undefined : cpuTarget(cpu);
  const { conditions: _conditions, currentMetrics: _current, ...status } = objectAt(object, 'status') ?? {};
  const result: JsonObject = {
    ...object,
    apiVersion: 'autoscaling/v1',
    spec: target === undefined ? spec : { ...spec, [TARGET]: target },
  };
  if (objectAt(object, 'status') !== undefined) result['status'] = status;
  return rest.length === 0 ? result : withAnnotation(result, JSON.stringify(rest));
}

/** autoscaling/v1 -> v2. */
export function autoscalerToV2(object: JsonObject): JsonObject {
  const { [TARGET]: target, ...spec } = objectAt(object, 'spec') ?? {};
  const kept = parsedList(textAt(objectAt(objectAt(object, 'metadata'), 'annotations'), METRICS_ANNOTATION));
  const metrics: JsonValue[] = [];
  if (typeof target === 'number') {
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } };
    metrics.push({ type: 'Resource', resource });
  }
  appendAll(metrics, kept);
  const result: JsonObject = { ...object, apiVersion: 'autoscaling/v2', spec };
  if (metrics.length > 0) result['spec'] = { ...spec, metrics };
  return kept.length === 0 ? result : withAnnotation(result, undefined);
}

function cpuTarget(metric: JsonValue): number | undefined {
  const resource =
    isObject(metric) && metric['type'] === 'Resource' ? objectAt(metric, 'resource') : undefined;
  if (textAt(resource, 'name') !== 'cpu') return undefined;
  const target = getOwn(objectAt(resource, 'target') ?? {}, 'averageUtilization');
  return typeof target === 'number' ? target : undefined;
}

function parsedList(text: string): readonly JsonValue[] {
  if (text === '') return [];
  try {
    const value = JSON.parse(text) as JsonValue;
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function withAnnotation(object: JsonObject, text: string | undefined): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const annotations: JsonObject = { ...objectAt(metadata, 'annotations') };
  delete annotations[METRICS_ANNOTATION];
  if (text !== undefined) annotations[METRICS_ANNOTATION] = text;
  const { annotations: _annotations, ...rest } = metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? rest : { ...rest, annotations } };
}
