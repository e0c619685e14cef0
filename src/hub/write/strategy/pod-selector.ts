import { IMMUTABLE, invalidValue } from '../../admit/field-problems.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';

/** `spec.selector` names the pods for good, and must name those of the template. */
export function selectorProblems(object: JsonObject, old: JsonObject | undefined): readonly FieldProblem[] {
  const spec = objectAt(object, 'spec') ?? {};
  const selector = getOwn(spec, 'selector');
  if (old !== undefined && !deepEqual(selector, getOwn(objectAt(old, 'spec') ?? {}, 'selector')))
    return [invalidValue('spec.selector', selector, IMMUTABLE)];
  const wanted = Object.entries(objectAt(objectAt(spec, 'selector'), 'matchLabels') ?? {});
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels') ?? {};
  if (wanted.every(([key, value]) => getOwn(labels, key) === value)) return [];
  return [
    invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'),
  ];
}
