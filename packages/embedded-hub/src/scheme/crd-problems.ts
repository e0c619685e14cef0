import { dns1035Label, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  deepEqual,
  getOwn,
  isObject,
  listAt,
  objectAt,
  textAt,
  appendAll,
} from '../json/json-value.ts';
import { child, type FieldPath } from '../schema/field-path.ts';
import { IMMUTABLE, invalidValue, required, unsupportedValue } from '../schema/field-problems.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { structuralProblems } from './structural-problems.ts';

/** All reasons why a custom resource definition cannot be served. */
export function crdProblems(crd: JsonObject, old: JsonObject | undefined): readonly FieldProblem[] {
  const spec = objectAt(crd, 'spec') ?? {};
  const problems: FieldProblem[] = [...nameProblems(crd, spec)];
  const scope = textAt(spec, 'scope');
  if (scope !== 'Cluster' && scope !== 'Namespaced') {
    problems.push(unsupportedValue('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  appendAll(problems, versionProblems(spec));
  appendAll(problems, storedVersionProblems(crd, spec));
  const before = objectAt(old, 'spec');
  for (const path of [['group'], ['scope'], ['names', 'kind'], ['names', 'plural']]) {
    const [sent, stored] = [at(spec, path), at(before ?? spec, path)];
    if (!deepEqual(sent, stored)) problems.push(invalidValue(`spec.${path.join('.')}`, sent, IMMUTABLE));
  }
  return problems;
}

/** A version listed in `status.storedVersions` cannot be removed from the definition. */
function storedVersionProblems(crd: JsonObject, spec: JsonObject): FieldProblem[] {
  const names = new Set(
    listAt(spec, 'versions')
      .filter(isObject)
      .map((version) => textAt(version, 'name')),
  );
  return listAt(objectAt(crd, 'status'), 'storedVersions').flatMap((stored, index) => {
    if (typeof stored !== 'string' || names.has(stored)) return [];
    const why = `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`;
    return [invalidValue(`status.storedVersions[${String(index)}]`, stored, why)];
  });
}

const APPROVAL = 'api-approved.kubernetes.io';

/** Definitions in the groups of Kubernetes need an approval annotation; checked on create. */
export function approvalProblems(crd: JsonObject): readonly FieldProblem[] {
  const group = textAt(objectAt(crd, 'spec'), 'group');
  const guarded = ['k8s.io', 'kubernetes.io'].some((name) => group === name || group.endsWith(`.${name}`));
  const approval = textAt(objectAt(objectAt(crd, 'metadata'), 'annotations'), APPROVAL);
  if (!guarded || approval !== '') return [];
  const why = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [required(`metadata.annotations[${APPROVAL}]`, why)];
}

function at(object: JsonObject, path: readonly string[]): ReturnType<typeof getOwn> {
  const [key = '', ...rest] = path;
  if (rest.length === 0) return getOwn(object, key);
  return at(objectAt(object, key) ?? {}, rest);
}

function nameProblems(crd: JsonObject, spec: JsonObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = objectAt(spec, 'names') ?? {};
  const [plural, group] = [textAt(names, 'plural'), textAt(spec, 'group')];
  const name = textAt(objectAt(crd, 'metadata'), 'name');
  if (name !== `${plural}.${group}`) {
    problems.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  for (const problem of dnsSubdomain(group)) problems.push(invalidValue('spec.group', group, problem));
  if (!group.includes('.')) {
    problems.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  const kind = textAt(names, 'kind');
  const completed: JsonObject = {
    ...names,
    singular: textAt(names, 'singular') || kind.toLowerCase(),
    listKind: textAt(names, 'listKind') || `${kind}List`,
  };
  for (const key of ['plural', 'singular']) {
    const text = textAt(completed, key);
    for (const problem of dns1035Label(text)) problems.push(invalidValue(`spec.names.${key}`, text, problem));
  }
  for (const key of ['kind', 'listKind']) {
    const text = textAt(completed, key);
    const lower = dns1035Label(text.toLowerCase());
    for (const problem of lower) {
      problems.push(
        invalidValue(
          `spec.names.${key}`,
          text,
          `may have mixed case, but should otherwise match: ${problem}`,
        ),
      );
    }
  }
  if (kind !== '' && kind === textAt(completed, 'listKind')) {
    problems.push(invalidValue('spec.names.listKind', kind, 'kind and listKind may not be the same'));
  }
  return problems;
}

function versionProblems(spec: JsonObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const versions = listAt(spec, 'versions').filter(isObject);
  if (versions.length === 0)
    return [required('spec.versions', 'must have exactly one version marked as storage version')];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    const path = child(child(child(undefined, 'spec'), 'versions'), index);
    const name = textAt(version, 'name');
    for (const problem of dns1035Label(name)) problems.push(invalidValue(child(path, 'name'), name, problem));
    if (seen.has(name)) problems.push(invalidValue(child(path, 'name'), name, 'must be unique'));
    seen.add(name);
    const schema = objectAt(objectAt(version, 'schema'), 'openAPIV3Schema');
    const place = child(child(path, 'schema'), 'openAPIV3Schema');
    if (schema === undefined) problems.push(required(place, 'schemas are required'));
    else appendAll(problems, structuralProblems(schema, place));
    appendAll(problems, versionExtraProblems(version, path));
  }
  const stored = versions.filter((version) => version['storage'] === true).length;
  if (stored !== 1) {
    problems.push(
      invalidValue(
        'spec.versions',
        versions.map((version) => textAt(version, 'name')),
        'must have exactly one version marked as storage version',
      ),
    );
  }
  return problems;
}

/**
 * Problems of the printer columns, the scale subresource and the selectable fields of one version.
 */
function versionExtraProblems(version: JsonObject, path: FieldPath): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, column] of listAt(version, 'additionalPrinterColumns').entries())
    if (isObject(column))
      checkColumn(column, child(child(path, 'additionalPrinterColumns'), index), problems);
  const scale = objectAt(objectAt(version, 'subresources'), 'scale');
  const place = child(child(path, 'subresources'), 'scale');
  if (scale !== undefined) {
    checkScalePath(scale, { place, key: 'specReplicasPath', below: '.spec.' }, problems);
    checkScalePath(scale, { place, key: 'statusReplicasPath', below: '.status.' }, problems);
  }
  const schema = objectAt(objectAt(version, 'schema'), 'openAPIV3Schema');
  for (const [index, field] of listAt(version, 'selectableFields').entries()) {
    const jsonPath = isObject(field) ? textAt(field, 'jsonPath') : '';
    const where = child(child(child(path, 'selectableFields'), index), 'jsonPath');
    if (schema !== undefined && !isScalarField(schema, jsonPath))
      problems.push(
        invalidValue(where, jsonPath, 'must point to a field of type string, boolean or integer'),
      );
  }
  return problems;
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function checkColumn(column: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  if (textAt(column, 'name') === '') problems.push(required(child(path, 'name')));
  const type = textAt(column, 'type');
  if (!COLUMN_TYPES.includes(type)) problems.push(unsupportedValue(child(path, 'type'), type, COLUMN_TYPES));
  const format = textAt(column, 'format');
  if (format !== '' && !COLUMN_FORMATS.includes(format))
    problems.push(unsupportedValue(child(path, 'format'), format, COLUMN_FORMATS));
  checkSimplePath(textAt(column, 'jsonPath'), child(path, 'jsonPath'), problems);
}

function checkScalePath(
  scale: JsonObject,
  { place, key, below }: { readonly place: FieldPath; readonly key: string; readonly below: string },
  problems: FieldProblem[],
): void {
  const text = textAt(scale, key);
  checkSimplePath(text, child(place, key), problems);
  if (text !== '' && !text.startsWith(below))
    problems.push(invalidValue(child(place, key), text, `should be a json path under ${below.slice(0, -1)}`));
}

function checkSimplePath(text: string, path: FieldPath, problems: FieldProblem[]): void {
  if (text === '') problems.push(required(path));
  else if (!text.startsWith('.'))
    problems.push(invalidValue(path, text, 'must be a simple json path starting with .'));
}

function isScalarField(schema: JsonObject, jsonPath: string): boolean {
  if (!jsonPath.startsWith('.')) return false;
  let at: JsonObject | undefined = schema;
  for (const key of jsonPath.slice(1).split('.')) at = objectAt(objectAt(at, 'properties'), key);
  return ['string', 'boolean', 'integer'].includes(textAt(at, 'type'));
}
