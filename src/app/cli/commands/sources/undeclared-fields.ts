import { UNKNOWN_FIELD_CODE } from '../../../../adapters/yaml/schema/check.ts';
import type { FieldPath } from '../../../../core/model/field-path.ts';
import type { Problem } from '../../../../core/model/problem.ts';
import type { SourceObject } from '../../../../core/model/source-object.ts';
import { closestName } from '../../../../core/sources/closest-name.ts';
import {
  fieldError,
  type FieldFinding,
  findingsAbout,
  type SourceFinding,
} from '../../../../core/sources/source-finding.ts';
import { getOwn, isObject, type JsonObject, type JsonValue } from '../../../../hub/json/json-value.ts';
import type { Schema } from '../../../../hub/schema/schema.ts';
import { createScheme } from '../../../../hub/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../../../hub/scheme/crd.ts';
import { OCM_GROUPS } from '../../../../core/ocm/ocm-groups.ts';

/**
 * Unknown fields are warnings when files are read, since the rest of the object may be valid. A hub
 * rejects the complete object, so before a merge they are errors.
 */
export function withFieldErrors(problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) =>
    problem.code === UNKNOWN_FIELD_CODE ? { ...problem, severity: 'error' as const } : problem,
  );
}

/**
 * Finds fields that the kind does not have, for Kubernetes' kinds and those that a CustomResourceDefinition among the
 * objects defines.
 */
export function checkUndeclaredFields(objects: readonly SourceObject[]): readonly SourceFinding[] {
  const schemaOf = schemasOf(objects);
  return objects.flatMap((source) => {
    const schema = schemaOf(source.object);
    if (schema === undefined) return [];
    return findingsAbout(source, [...undeclaredIn(schema, source.object as unknown as JsonObject, [])]);
  });
}

type Kinded = Pick<SourceObject['object'], 'apiVersion' | 'kind'>;

function schemasOf(objects: readonly SourceObject[]): (object: Kinded) => Schema | undefined {
  const definitions = createScheme()
    .definitions()
    // The fields of OCM's kinds were checked when the files were read.
    .filter(({ group }) => !Object.hasOwn(OCM_GROUPS, group));
  const own = objects
    .filter(({ object }) => object.kind === 'CustomResourceDefinition')
    .flatMap(({ object }) => definitionOf(object as unknown as JsonObject) ?? []);
  const schemas = new Map<string, Schema>();
  for (const { group, kind, versions } of [...definitions, ...own])
    for (const { name, schema } of versions)
      schemas.set(`${group === '' ? name : `${group}/${name}`} ${kind}`, schema);
  return ({ apiVersion, kind }) => schemas.get(`${apiVersion} ${kind}`);
}

/** Undefined for an invalid definition. */
function definitionOf(crd: JsonObject): ReturnType<typeof definitionFromCrd> | undefined {
  try {
    return definitionFromCrd(crd);
  } catch {
    return undefined;
  }
}

function* undeclaredIn(
  schema: Schema,
  value: JsonValue | undefined,
  path: FieldPath,
): Generator<FieldFinding> {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [index, item] of value.entries()) yield* undeclaredIn(schema.items, item, [...path, index]);
    return;
  }
  if (!isObject(value) || schema.type !== 'object') return;
  const isOpen = schema.preserveUnknown === true || schema.additional === true;
  const rest = schema.additional === true ? undefined : schema.additional;
  for (const key of Object.keys(value)) {
    const known = schema.properties?.get(key) ?? rest;
    if (known !== undefined) yield* undeclaredIn(known, getOwn(value, key), [...path, key]);
    else if (!isOpen) yield undeclared([...path, key], key, [...(schema.properties?.keys() ?? [])]);
  }
}

function undeclared(path: FieldPath, key: string, known: readonly string[]): FieldFinding {
  const near = closestName(key, known);
  const message = 'is not a field of this kind, and the hub refuses the object because of it';
  return fieldError('source.undeclared-field', path, message, near && `did you mean ${near}?`);
}
