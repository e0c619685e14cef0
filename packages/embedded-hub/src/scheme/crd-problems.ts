import { child } from '../schema/field-path.ts';
import { IMMUTABLE, invalidValue, required, unsupportedValue } from '../schema/field-problems.ts';
import { dns1035Label, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import { appendAll } from '../json/append-all.ts';
import type { JsonObject } from '../json/json-value.ts';
import { deepEqual, getOwn, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { versionExtraProblems } from './crd-version-problems.ts';
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
