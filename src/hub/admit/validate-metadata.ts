import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { ResourceDefinition } from '../scheme/resource-definition.ts';
import type { FieldProblem } from '../status/status-errors.ts';
import { invalidValue, required } from './field-problems.ts';
import type { NameRule } from './name-rules.ts';
import {
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  pathSegment,
  qualifiedName,
} from './name-rules.ts';

const ANNOTATION_LIMIT_BYTES = 256 * 1024;
const RBAC = 'rbac.authorization.k8s.io';

/** How objects of a resource may be called. */
function nameRuleOf(definition: ResourceDefinition): NameRule {
  if (!definition.builtIn) return dnsSubdomain;
  if (definition.group === RBAC) return pathSegment;
  if (definition.group === '' && definition.plural === 'namespaces') return dnsLabel;
  if (definition.group === '' && definition.plural === 'services') return dns1035Label;
  return dnsSubdomain;
}

/** Names, labels, annotations, finalizers and owners: rules that hold for every object. */
export function validateMetadata(
  definition: ResourceDefinition,
  object: JsonObject,
): readonly FieldProblem[] {
  const metadata = objectAt(object, 'metadata') ?? {};
  const problems: FieldProblem[] = [];
  const name = textAt(metadata, 'name');
  if (name === '') problems.push(required('metadata.name', 'name or generateName is required'));
  else {
    for (const problem of nameRuleOf(definition)(name))
      problems.push(invalidValue('metadata.name', name, problem));
  }
  validateLabels(objectAt(metadata, 'labels') ?? {}, problems);
  validateAnnotations(objectAt(metadata, 'annotations') ?? {}, problems);
  for (const finalizer of listAt(metadata, 'finalizers')) validateFinalizer(finalizer, problems);
  validateOwners(listAt(metadata, 'ownerReferences'), problems);
  return problems;
}

function validateLabels(labels: JsonObject, problems: FieldProblem[]): void {
  for (const [key, value] of Object.entries(labels)) {
    for (const problem of qualifiedName(key)) problems.push(invalidValue('metadata.labels', key, problem));
    if (typeof value !== 'string') continue;
    for (const problem of labelValue(value)) problems.push(invalidValue('metadata.labels', value, problem));
  }
}

function validateAnnotations(annotations: JsonObject, problems: FieldProblem[]): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    size += key.length + (typeof value === 'string' ? value.length : 0);
    for (const problem of qualifiedName(key.toLowerCase())) {
      problems.push(invalidValue('metadata.annotations', key, problem));
    }
  }
  if (size > ANNOTATION_LIMIT_BYTES) {
    problems.push({
      field: 'metadata.annotations',
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${String(ANNOTATION_LIMIT_BYTES)} bytes`,
    });
  }
}

function validateFinalizer(finalizer: JsonValue, problems: FieldProblem[]): void {
  if (typeof finalizer !== 'string') return;
  for (const problem of qualifiedName(finalizer)) {
    problems.push(invalidValue('metadata.finalizers', finalizer, problem));
  }
}

function validateOwners(owners: readonly JsonValue[], problems: FieldProblem[]): void {
  let controllers = 0;
  for (const [index, owner] of owners.entries()) {
    if (!isObject(owner)) continue;
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      if (textAt(owner, key) !== '') continue;
      problems.push(
        invalidValue(`metadata.ownerReferences[${String(index)}].${key}`, '', `${key} must not be empty`),
      );
    }
    if (owner['controller'] === true) controllers += 1;
  }
  if (controllers > 1) {
    problems.push(
      invalidValue(
        'metadata.ownerReferences',
        owners as JsonValue,
        'Only one reference can have Controller set to true',
      ),
    );
  }
}
