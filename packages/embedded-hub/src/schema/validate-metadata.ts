import type { NameRule } from '@berth/kube/model/selector/name-rules';
import {
  asPrefix,
  dnsLabel,
  labelValue,
  pathSegment,
  qualifiedName,
} from '@berth/kube/model/selector/name-rules';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import { type JsonObject, type JsonValue, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { type FieldPath, child } from './field-path.ts';
import { invalidValue, required, tooLong } from './field-problems.ts';

const METADATA = child(undefined, 'metadata');

interface Metadata {
  readonly metadata: JsonObject;
  readonly path: FieldPath;
  readonly problems: FieldProblem[];
}

/**
 * Metadata of an object that is created.
 * Source: apimachinery, pkg/api/validation (ValidateObjectMeta).
 */
export function validateNewMetadata(object: JsonObject, rule: NameRule, problems: FieldProblem[]): void {
  const at: Metadata = { metadata: objectAt(object, 'metadata') ?? {}, path: METADATA, problems };
  const name = textAt(at.metadata, 'name');
  checkPrefix(at, rule);
  if (name === '') problems.push(required(child(METADATA, 'name'), 'name or generateName is required'));
  checkName(at, 'name', rule);
  checkMaps(at);
  checkFinalizers(at);
}

/** The names alone. */
export function validateNames(object: JsonObject, rule: NameRule, problems: FieldProblem[]): void {
  const at: Metadata = { metadata: objectAt(object, 'metadata') ?? {}, path: METADATA, problems };
  checkPrefix(at, rule);
  checkName(at, 'name', rule);
}

/** Metadata of an updated object. The name cannot change; finalizers are checked elsewhere. */
export function validateChangedMetadata(object: JsonObject, problems: FieldProblem[]): void {
  checkMaps({ metadata: objectAt(object, 'metadata') ?? {}, path: METADATA, problems });
}

/** Metadata of an embedded resource: the name is optional, and may be any valid path segment. */
export function validateEmbeddedMetadata(
  metadata: JsonObject,
  path: FieldPath,
  problems: FieldProblem[],
): void {
  const at: Metadata = { metadata, path, problems };
  checkPrefix(at, pathSegment);
  checkName(at, 'name', pathSegment);
  checkName(at, 'namespace', dnsLabel);
  const generation = metadata['generation'];
  if (typeof generation === 'number' && generation < 0) {
    const detail = 'must be greater than or equal to 0';
    problems.push(invalidValue(child(path, 'generation'), generation, detail));
  }
  checkMaps(at);
  checkFinalizers(at);
  checkManagedFields(metadata, path, problems);
}

function checkPrefix(at: Metadata, rule: NameRule): void {
  if (textAt(at.metadata, 'generateName') !== '') checkName(at, 'generateName', asPrefix(rule));
}

function checkName({ metadata, path, problems }: Metadata, key: string, rule: NameRule): void {
  const name = textAt(metadata, key);
  if (name === '') return;
  for (const problem of rule(name)) problems.push(invalidValue(child(path, key), name, problem));
}

function checkMaps(at: Metadata): void {
  const { metadata, path, problems } = at;
  const labels = objectAt(metadata, 'labels');
  if (labels !== undefined) checkLabels(labels, child(path, 'labels'), problems);
  const annotations = objectAt(metadata, 'annotations');
  if (annotations !== undefined) checkAnnotations(annotations, child(path, 'annotations'), problems);
  const owners = listAt(metadata, 'ownerReferences');
  if (owners.length > 0) checkOwners(owners, child(path, 'ownerReferences'), problems);
}

/** Keys and values of labels, in any map of labels. */
export function checkLabels(labels: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  for (const key of Object.keys(labels)) {
    const value = labels[key];
    for (const problem of qualifiedName(key)) problems.push(invalidValue(path, key, problem));
    if (typeof value !== 'string') continue;
    for (const problem of labelValue(value)) problems.push(invalidValue(path, value, problem));
  }
}

const ANNOTATION_LIMIT_BYTES = 256 * 1024;

export function checkAnnotations(annotations: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  let length = 0;
  for (const [key, value] of Object.entries(annotations)) {
    length += key.length + (typeof value === 'string' ? value.length : 0);
    for (const problem of qualifiedName(key.toLowerCase())) problems.push(invalidValue(path, key, problem));
  }
  // A UTF-16 unit has at most three bytes in UTF-8, so most annotations need no counting.
  if (length * 3 > ANNOTATION_LIMIT_BYTES && sizeBytes(annotations) > ANNOTATION_LIMIT_BYTES)
    problems.push(tooLong(path, ANNOTATION_LIMIT_BYTES));
}

function sizeBytes(annotations: JsonObject): number {
  return Object.entries(annotations)
    .flat()
    .reduce((sum: number, text) => sum + (typeof text === 'string' ? utf8LengthBytes(text) : 0), 0);
}

function checkFinalizers({ metadata, path, problems }: Metadata): void {
  const finalizers = listAt(metadata, 'finalizers');
  const place = child(path, 'finalizers');
  for (const finalizer of finalizers) {
    if (typeof finalizer !== 'string') continue;
    for (const problem of qualifiedName(finalizer)) problems.push(invalidValue(place, finalizer, problem));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    problems.push(invalidValue(place, finalizers as JsonValue, detail));
  }
}

const EMPTY_OWNER_FIELDS = { apiVersion: 'version must not be empty', kind: '', name: '', uid: '' } as const;

function checkOwners(owners: readonly JsonValue[], path: FieldPath, problems: FieldProblem[]): void {
  let controller = '';
  for (const owner of owners) {
    if (!isObject(owner)) continue;
    for (const [key, detail] of Object.entries(EMPTY_OWNER_FIELDS)) {
      if (textAt(owner, key) === '')
        problems.push(invalidValue(child(path, key), '', detail === '' ? 'must not be empty' : detail));
    }
    const [apiVersion, kind] = [textAt(owner, 'apiVersion'), textAt(owner, 'kind')];
    if (apiVersion === 'v1' && kind === 'Event')
      problems.push(invalidValue(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    if (owner['controller'] !== true) continue;
    const name = `${kind}/${textAt(owner, 'name')}`;
    if (controller === '') controller = name;
    else problems.push(invalidValue(path, owners as JsonValue, secondController(controller, name)));
  }
}

function secondController(first: string, second: string): string {
  return `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
}

/** Source: apimachinery, pkg/apis/meta/v1/validation (ValidateManagedFields). */
function checkManagedFields(metadata: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  for (const [index, entry] of listAt(metadata, 'managedFields').entries()) {
    if (isObject(entry)) checkEntry(entry, child(child(path, 'managedFields'), index), problems);
  }
}

const MANAGER_LIMIT_BYTES = 128;
const SUBRESOURCE_LIMIT_BYTES = 256;

function checkEntry(entry: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  const [operation, fieldsType] = [textAt(entry, 'operation'), textAt(entry, 'fieldsType')];
  if (operation !== 'Apply' && operation !== 'Update')
    problems.push(invalidValue(child(path, 'operation'), operation, 'must be `Apply` or `Update`'));
  if (fieldsType !== '' && fieldsType !== 'FieldsV1')
    problems.push(invalidValue(child(path, 'fieldsType'), fieldsType, 'must be `FieldsV1`'));
  if (textAt(entry, 'manager').length > MANAGER_LIMIT_BYTES)
    problems.push(tooLong(child(path, 'manager'), MANAGER_LIMIT_BYTES));
  if (textAt(entry, 'subresource').length > SUBRESOURCE_LIMIT_BYTES)
    problems.push(tooLong(child(path, 'subresource'), SUBRESOURCE_LIMIT_BYTES));
}
