import { isObject } from '@berth/runtime/json/json-value';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { hasManifestFields } from './locate-fields.ts';
import { closestName } from '@berth/runtime/text/closest-name';
import { checkSchema, describeValue, type SchemaFinding } from './schema/check.ts';
import { anyObject } from './schema/meta.ts';
import { apiVersionOf, typeKeyOf } from '@berth/kube/model/kinds';
import { PLACEMENT_TEST } from '../../core/placement-test/placement-test.ts';
import { RULE_TEST } from '../../core/preview/rules/rule-test.ts';
import { type KnownKind, OCM_MANIFESTS } from './schema/ocm-schemas.ts';
import { placementTest, ruleTest } from './schema/placement-test.ts';

/** The code of the warning about a document that is no mapping, or has neither apiVersion nor kind. */
export const NOT_AN_OBJECT = 'source.not-an-object';

export type ManifestFinding = SchemaFinding;

interface CheckedManifest {
  /** Absent if the object has an error. */
  readonly object?: KubeObject;
  readonly findings: readonly ManifestFinding[];
}

/** Checks whether a value is a Kubernetes object with a kind and a shape that Berth accepts. */
export function checkManifest(value: unknown): CheckedManifest {
  if (typeof value === 'string' && hasManifestFields(value))
    return rejected(
      'schema.type',
      'got a text with apiVersion and kind, expected an object: a comment begins with #',
    );
  if (!isObject(value) && !isListOfObjects(value))
    return skipped(`is not a Kubernetes object (got ${describeValue(value)}): skipped`);
  if (!isObject(value))
    return rejected(
      'schema.type',
      `got ${describeValue(value)} with Kubernetes objects, expected one object in each document, or a List`,
    );
  if (!Object.hasOwn(value, 'apiVersion') && !Object.hasOwn(value, 'kind'))
    return skipped('is not a Kubernetes object (no apiVersion, no kind): skipped');
  const object = withoutEmptyMetadata(value);
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    return finish(object, checkSchema(object, anyObject));
  if (hasOnlyGeneratedName(object))
    return rejected(
      'schema.generate-name',
      'got generateName without name, expected metadata.name: with a generated name, each read of Git would be another object',
      ['metadata', 'generateName'],
    );
  if (isUnexpandableList(object, kind))
    return rejected(
      'schema.list',
      `got a ${kind} that cannot be opened, expected items and no metadata.name`,
    );
  const lookup = lookUpKind(apiVersion, kind);
  switch (lookup.state) {
    case 'known':
      return finish(object, [
        ...checkSchema(object, lookup.known.schema, lookup.known.unknownField),
        ...scopeFindings(object, lookup.known.info.namespaced),
      ]);
    case 'other-version':
      return rejected('schema.version', `got string "${apiVersion}", expected ${lookup.expected}`, [
        'apiVersion',
      ]);
    case 'unknown':
      return finish(object, [...checkSchema(object, anyObject), ...kindFindings(apiVersion, kind)]);
  }
}

function skipped(message: string): CheckedManifest {
  return { findings: [{ severity: 'warning', code: NOT_AN_OBJECT, path: [], at: 'value', message }] };
}

function isListOfObjects(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.some((one) => isObject(one) && Object.hasOwn(one, 'apiVersion') && Object.hasOwn(one, 'kind'))
  );
}

function finish(object: Record<string, unknown>, findings: readonly ManifestFinding[]): CheckedManifest {
  const failed = findings.some(({ severity, isObjectUsed }) => severity === 'error' && isObjectUsed !== true);
  return failed ? { findings } : { object: object as unknown as KubeObject, findings };
}

function rejected(code: string, message: string, path: readonly string[] = []): CheckedManifest {
  return { findings: [{ severity: 'error', code, path, at: 'value', message }] };
}

function scopeFindings(object: Record<string, unknown>, namespaced: boolean): ManifestFinding[] {
  const { metadata } = object;
  if (namespaced || !isObject(metadata) || metadata['namespace'] === undefined) return [];
  return [
    {
      severity: 'error',
      code: 'schema.scope',
      path: ['metadata', 'namespace'],
      at: 'key',
      message: `got ${describeValue(metadata['namespace'])}, expected none: this kind has no namespace`,
      hint: 'remove the line',
    },
  ];
}

/**
 * A kind that Berth does not know is accepted, because the hub may serve it. It is refused if it is probably a misspelt
 * kind or group of ours, because the intended object would seem to be deleted.
 */
function kindFindings(apiVersion: string, kind: string): ManifestFinding[] {
  const { group } = groupVersionOf(apiVersion);
  const meantGroup = KNOWN_GROUPS.includes(group) ? undefined : closestName(group, KNOWN_GROUPS);
  if (meantGroup !== undefined)
    return [unknown('schema.unknown-group', 'apiVersion', `got group "${group}"`, meantGroup)];
  const meant = closestName(kind, KNOWN_KIND_NAMES);
  if (meant === undefined || !apiVersion.includes('open-cluster-management.io/')) return [];
  return [unknown('schema.unknown-kind', 'kind', `got kind "${kind}"`, meant)];
}

function unknown(code: string, field: string, got: string, meant: string): ManifestFinding {
  const message = `${got}, which Berth does not know`;
  return { severity: 'error', code, path: [field], at: 'value', message, hint: `did you mean ${meant}?` };
}

/** A List that cannot be expanded (it has a name, or no list of items) hides its objects. */
function isUnexpandableList(object: Record<string, unknown>, kind: string): boolean {
  return kind === 'List' || (kind.endsWith('List') && Array.isArray(object['items']));
}

function hasOnlyGeneratedName({ metadata }: Record<string, unknown>): boolean {
  return isObject(metadata) && Boolean(metadata['generateName']) && !metadata['name'];
}

const NULLABLE_METADATA = ['labels', 'annotations', 'namespace', 'finalizers', 'ownerReferences'];

/** `labels:` without a value is null in YAML. Kubernetes treats it as absent. */
function withoutEmptyMetadata(value: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = value;
  if (!isObject(metadata) || !NULLABLE_METADATA.some((name) => metadata[name] === null)) return value;
  const kept = Object.entries(metadata).filter(
    ([name, entry]) => entry !== null || !NULLABLE_METADATA.includes(name),
  );
  return { ...value, metadata: Object.fromEntries(kept) };
}

/** Tests are never written to a hub. */
const unknownField = 'is not a field of this kind';

const KNOWN: readonly KnownKind[] = [
  ...OCM_MANIFESTS,
  { info: PLACEMENT_TEST, schema: placementTest, unknownField },
  { info: RULE_TEST, schema: ruleTest, unknownField },
];

const BY_TYPE = new Map(KNOWN.map((known) => [typeKeyOf(known.info), known]));
const BY_GROUP_KIND = new Map(KNOWN.map((known) => [`${known.info.group} ${known.info.kind}`, known]));

/** The kind of an object: `known`, `other-version` of a known kind, or `unknown`. */
type KindLookup =
  | { readonly state: 'known'; readonly known: KnownKind }
  | { readonly state: 'other-version'; readonly expected: string }
  | { readonly state: 'unknown' };

export function lookUpKind(apiVersion: string, kind: string): KindLookup {
  const known = BY_TYPE.get(`${apiVersion} ${kind}`);
  if (known !== undefined) return { state: 'known', known };
  const sameKind = BY_GROUP_KIND.get(`${apiVersion.split('/')[0] ?? ''} ${kind}`);
  if (sameKind !== undefined) return { state: 'other-version', expected: apiVersionOf(sameKind.info) };
  return { state: 'unknown' };
}

/** Whether the fields of the kind are checked when a file is read. */
export function isFieldsChecked(apiVersion: string, kind: string): boolean {
  return BY_TYPE.has(`${apiVersion} ${kind}`);
}

/** Kind names, for "did you mean". */
const KNOWN_KIND_NAMES: readonly string[] = KNOWN.map((known) => known.info.kind);

/** Their groups, for the same purpose. */
const KNOWN_GROUPS: readonly string[] = [...new Set(KNOWN.map((known) => known.info.group))];
