import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';
import { withScope } from './webhook-configuration-strategy.ts';

/* Source: kubernetes `pkg/apis/admissionregistration/v1/defaults.go`. */

export const ADMISSION_POLICY_STRATEGY: Strategy = {
  generation: true,
  conditionalUpdate: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    if (spec === undefined) return object;
    const failurePolicy = spec['failurePolicy'] ?? 'Fail';
    return { ...object, spec: withMatchDefaults({ ...spec, failurePolicy }, 'matchConstraints') };
  },
};

export const POLICY_BINDING_STRATEGY: Strategy = {
  generation: true,
  conditionalUpdate: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    return spec === undefined ? object : { ...object, spec: withMatchDefaults(spec, 'matchResources') };
  },
};

function withMatchDefaults(spec: JsonObject, key: string): JsonObject {
  const resources = objectAt(spec, key);
  if (resources === undefined) return spec;
  const filled: JsonObject = {
    ...resources,
    matchPolicy: resources['matchPolicy'] ?? 'Equivalent',
    namespaceSelector: resources['namespaceSelector'] ?? {},
    objectSelector: resources['objectSelector'] ?? {},
  };
  for (const rules of ['resourceRules', 'excludeResourceRules'])
    if (Array.isArray(resources[rules]))
      filled[rules] = listAt(resources, rules).map(
        (rule): JsonValue => (isObject(rule) ? withScope(rule) : rule),
      );
  return { ...spec, [key]: filled };
}
