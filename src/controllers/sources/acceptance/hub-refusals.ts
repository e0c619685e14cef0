import { ocmChecks } from '../../admission/cluster-checks.ts';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  textAt,
  getOwn,
} from '@berth/embedded-hub/json/json-value';
import type { ResourceRef } from '@berth/embedded-hub/schema/resource-definition';
import type { Schema } from '@berth/embedded-hub/schema/schema';
import { validateValue } from '@berth/embedded-hub/schema/validate-value';
import { type StatusCause, StatusError } from '@berth/embedded-hub/wire/status-error';
import type { FieldProblem } from '@berth/embedded-hub/wire/status-errors';
import { prepareIncoming } from '@berth/embedded-hub/write/incoming';
import { finishCreate } from '@berth/embedded-hub/write/prepare-create';
import { RULES_NOT_CHECKED } from '@berth/embedded-hub/write/validate-object';
import type { WriteRequest } from '@berth/embedded-hub/write/write-request';
import type { FieldPath } from '@berth/kube/model/field-path';
import type { SourceObject } from '@berth/kube/model/source-object';
import { closestName } from '@berth/runtime/text/closest-name';
import { isFieldsChecked } from '../../../adapters/yaml/manifest-check.ts';
import {
  fieldError,
  type FieldFinding,
  findingsAbout,
  type SourceFinding,
  UNKNOWN_FIELD,
  unknownFieldHint,
} from '../../../core/sources/source-finding.ts';
import { hubKinds } from './hub-kinds.ts';

/**
 * Finds what a hub would refuse of the objects, with the code of the embedded hub that creates them: fields, types,
 * enumerations, bounds, patterns, CEL rules, the rules of Kubernetes for its own kinds, and OCM's admission. Kinds
 * without a known definition are not checked; nor is what depends on the hub: webhooks, policies, rights, other objects,
 * and rules about the change of an existing object.
 */
export function hubRefusals(objects: readonly SourceObject[]): readonly SourceFinding[] {
  const kinds = hubKinds(objects.map(({ object }) => object));
  return objects.flatMap((source) => {
    const ref = kinds.refOf(source.object);
    if (ref === undefined) return [];
    return findingsAbout(source, refusals(ref, source.object as unknown as JsonObject));
  });
}

function refusals(ref: ResourceRef, object: JsonObject): readonly FieldFinding[] {
  // The other kinds were checked for unknown fields when their files were read.
  const isChecked = isFieldsChecked(textAt(object, 'apiVersion'), textAt(object, 'kind'));
  const undeclared = isChecked ? [] : [...undeclaredFields(ref.version.schema, object)];
  try {
    const request = writeRequest(ref, object);
    const incoming = prepareIncoming(request, asNew(object), { strictErrors: [], warnings: [] });
    finishCreate(request, incoming, [], (created) => created);
    return undeclared;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return [...undeclared, ...causesOf(error, ref, object).map((cause) => findingOf(cause, ref, object))];
  }
}

/** An error without causes is about the types of the fields, and names no place in the object. */
function causesOf(error: StatusError, { version }: ResourceRef, object: JsonObject): readonly StatusCause[] {
  const causes = error.details?.causes ?? [];
  if (causes.length > 0) return causes.filter(({ message }) => message !== RULES_NOT_CHECKED.message);
  const problems: FieldProblem[] = [];
  validateValue(version.schema, object, problems);
  const field = problems.find(({ reason }) => reason === 'FieldValueTypeInvalid')?.field ?? '';
  return [{ reason: error.reason, message: error.statusMessage, field }];
}

/** A request of the controller, on a hub that refuses nobody. */
export function writeRequest(ref: ResourceRef, object: JsonObject): WriteRequest {
  const namespace = textAt(objectAt(object, 'metadata'), 'namespace') || 'default';
  return {
    ref,
    ...{ subresource: '', name: '', fieldManager: 'berth', fieldValidation: 'Ignore' },
    namespace: ref.definition.namespaced ? namespace : '',
    now: '2000-01-01T00:00:00Z',
    identity: { uid: '00000000-0000-0000-0000-000000000000', nameSuffix: 'xxxxx' },
    user: { name: 'berth', groups: [] },
    admission: ocmChecks,
    can: () => true,
  };
}

/** Fields that a hub sets. A manifest that was read from a hub has them. */
const SET_BY_HUB = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'];

function asNew(object: JsonObject): JsonObject {
  const metadata = { ...objectAt(object, 'metadata') };
  for (const name of SET_BY_HUB) delete metadata[name];
  return { ...object, metadata };
}

function refused(path: FieldPath, why: string, hint?: string): FieldFinding {
  return fieldError('source.hub-refuses', path, `the hub refuses the object: ${why}`, hint);
}

function findingOf(
  { field = '', message }: StatusCause,
  { version: { schema: root } }: ResourceRef,
  object: JsonObject,
): FieldFinding {
  const path: (string | number)[] = [];
  let [schema, value, rest]: [Schema | undefined, JsonValue | undefined, string] = [root, object, field];
  while (rest !== '' && value !== undefined) {
    const step = firstStep(rest, value);
    if (step === undefined) break;
    path.push(step.key);
    schema = below(schema, step.key);
    value = isObject(value) || Array.isArray(value) ? (value as JsonObject)[step.key] : undefined;
    rest = step.rest;
  }
  return refused(path, message, hintFor(schema, value));
}

interface Step {
  readonly key: string | number;
  readonly rest: string;
}

/** Names may contain dots, so the longest key of the object counts that the text begins with. */
function firstStep(text: string, value: JsonValue): Step | undefined {
  const bracket = /^\[([^\]]*)\]/.exec(text);
  if (bracket !== null) {
    const [whole, inside = ''] = bracket;
    return { key: Array.isArray(value) ? Number(inside) : inside, rest: text.slice(whole.length) };
  }
  const name = text.replace(/^\./, '');
  const isStep = (key: string): boolean => name.startsWith(key) && /^($|[.[])/.test(name.slice(key.length));
  const [known] = isObject(value)
    ? Object.keys(value)
        .filter(isStep)
        .sort((a, b) => b.length - a.length)
    : [];
  const key = known ?? /^[^.[\]]+/.exec(name)?.[0];
  return key === undefined || key.startsWith('<') ? undefined : { key, rest: name.slice(key.length) };
}

function below(schema: Schema | undefined, key: string | number): Schema | undefined {
  if (typeof key === 'number') return schema?.items;
  return schema?.properties?.get(key) ?? (schema?.additional === true ? undefined : schema?.additional);
}

function hintFor(schema: Schema | undefined, value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') {
    const words = (schema?.limits?.enum ?? []).filter((word) => typeof word === 'string');
    const meant = words.includes(value) ? undefined : closestName(value, words);
    if (meant !== undefined) return `did you mean ${meant}?`;
    return schema?.type === 'integer' && /^-?\d+$/.test(value) ? 'remove the quotes' : undefined;
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  return schema?.type === 'string' && isPlain ? 'put the value in quotes' : undefined;
}

/** Finds the fields that a schema does not have. */
function* undeclaredFields(
  schema: Schema,
  value: JsonValue | undefined,
  path: FieldPath = [],
): Generator<FieldFinding> {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [index, item] of value.entries())
      yield* undeclaredFields(schema.items, item, [...path, index]);
    return;
  }
  if (!isObject(value) || schema.type !== 'object') return;
  const isOpen = schema.preserveUnknown === true || schema.additional === true;
  const rest = schema.additional === true ? undefined : schema.additional;
  for (const key of Object.keys(value)) {
    const known = schema.properties?.get(key) ?? rest;
    if (known !== undefined) yield* undeclaredFields(known, getOwn(value, key), [...path, key]);
    else if (!isOpen) yield undeclared([...path, key], key, schema.properties?.keys() ?? []);
  }
}

function undeclared(path: FieldPath, key: string, known: Iterable<string>): FieldFinding {
  return fieldError('source.undeclared-field', path, UNKNOWN_FIELD, unknownFieldHint(key, known));
}
