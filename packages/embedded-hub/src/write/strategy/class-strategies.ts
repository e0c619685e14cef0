import { forbiddenField, IMMUTABLE, invalidValue } from '../../schema/field-problems.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';
import type { Strategy } from './strategy.ts';

/** Pods copy the value of their class, so it is immutable. */
export const PRIORITY_CLASS_STRATEGY: Strategy = {
  fillIn: (object) => withDefaults(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  // The API server never increases its generation.
  onCreate: (object) => ({ ...object, metadata: { ...objectAt(object, 'metadata'), generation: 1 } }),
  validate: (object, old) => {
    if (old === undefined) return [];
    const problems: FieldProblem[] = [];
    if (object['value'] !== old['value'])
      problems.push(forbiddenField('value', 'may not be changed in an update.'));
    return [...problems, ...immutable(object, old, ['preemptionPolicy'])];
  },
};

export const STORAGE_CLASS_STRATEGY: Strategy = {
  fillIn: (object) => withDefaults(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: (object, old) => {
    if (old === undefined) return [];
    const problems: FieldProblem[] = [];
    for (const field of ['parameters', 'provisioner', 'reclaimPolicy'])
      if (!deepEqual(getOwn(object, field), getOwn(old, field)))
        problems.push(forbiddenField(field, `updates to ${field} are forbidden.`));
    return [...problems, ...immutable(object, old, ['volumeBindingMode'])];
  },
};

function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([field]) => !Object.hasOwn(object, field));
  return { ...object, ...Object.fromEntries(missing) };
}

function immutable(object: JsonObject, old: JsonObject, fields: readonly string[]): readonly FieldProblem[] {
  return fields
    .filter((field) => !deepEqual(getOwn(object, field), getOwn(old, field)))
    .map((field) => invalidValue(field, getOwn(object, field), IMMUTABLE));
}
