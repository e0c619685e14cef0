import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

const TARGET = 'targetCPUUtilizationPercentage';
const DEFAULT_TARGET = 80;
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: JsonObject = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};

/**
 * Both versions of autoscalers. Source: pkg/apis/autoscaling/v1 and v2 (SetDefaults_HorizontalPodAutoscaler,
 * GenerateHPAScaleUpRules). An autoscaler of v1 is stored as v2, which has a metric if v1 names none.
 */
export const AUTOSCALER_STRATEGY: Strategy = {
  fillIn: (autoscaler) => {
    const spec: JsonObject = { minReplicas: 1, ...objectAt(autoscaler, 'spec') };
    if (isFirstVersion(autoscaler)) return withTarget({ ...autoscaler, spec });
    const behavior = objectAt(spec, 'behavior');
    if (listAt(spec, 'metrics').length === 0) spec['metrics'] = [cpuMetric()];
    if (behavior !== undefined) spec['behavior'] = withRules(behavior);
    return { ...autoscaler, spec };
  },
};

function isFirstVersion(autoscaler: JsonObject): boolean {
  return textAt(autoscaler, 'apiVersion') === 'autoscaling/v1';
}

function withTarget(autoscaler: JsonObject): JsonObject {
  const spec = objectAt(autoscaler, 'spec') ?? {};
  const annotations = objectAt(objectAt(autoscaler, 'metadata'), 'annotations') ?? {};
  const named = getOwn(spec, TARGET) !== undefined || Object.hasOwn(annotations, METRICS_ANNOTATION);
  return named ? autoscaler : { ...autoscaler, spec: { ...spec, [TARGET]: DEFAULT_TARGET } };
}

function cpuMetric(): JsonValue {
  const target = { type: 'Utilization', averageUtilization: DEFAULT_TARGET };
  return { type: 'Resource', resource: { name: 'cpu', target } };
}

function withRules(behavior: JsonObject): JsonObject {
  return {
    scaleUp: { ...structuredClone(SCALE_UP), ...objectAt(behavior, 'scaleUp') },
    scaleDown: { ...structuredClone(SCALE_DOWN), ...objectAt(behavior, 'scaleDown') },
  };
}
