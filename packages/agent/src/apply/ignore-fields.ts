import jsonPatch from 'fast-json-patch';
import { InputError } from '@berth/runtime/errors';
import { findResults } from '@berth/kube-jsonpath/find-results';
import { parseJsonPath } from '@berth/kube-jsonpath/parse-template';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { IgnoreField } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { isPartOf } from '../rules/manifests/is-part-of.ts';
import { JqRunner } from './jq-runner.ts';

const jq = new JqRunner();

/** A path in ignoreFields that cannot be evaluated. It becomes the AppliedManifestSSAIgnoreFieldError of the manifest. */
export class IgnoreFieldError extends InputError {}

/** The manifest without the named fields. JSON paths are applied first, then pointers, then jq, as in OCM's agent. */
export async function removeIgnoredFields(
  manifest: KubeObject,
  fields: readonly IgnoreField[],
): Promise<KubeObject> {
  let object: unknown = structuredClone(manifest);
  for (const path of fields.flatMap((field) => field.jsonPaths ?? [])) removeByPath(object, path);
  for (const pointer of fields.flatMap((field) => field.jsonPointers ?? []))
    object = removeByPointer(object, pointer);
  for (const expression of fields.flatMap((field) => field.jqPathExpressions ?? []))
    object = await removeByJq(object, expression);
  requireSameObject(manifest, object as KubeObject);
  return object as KubeObject;
}

/**
 * The executor was checked for the named object and, for RBAC, the granted rights. An expression
 * such as `.a) | .metadata.name = "other" | del(.b` could change both after the check.
 */
function requireSameObject(manifest: KubeObject, stripped: KubeObject): void {
  const names = ({ apiVersion, kind, metadata }: Partial<KubeObject>): readonly unknown[] => [
    apiVersion,
    kind,
    metadata?.name,
    metadata?.namespace,
  ];
  if (jsonEqual(names(manifest), names(stripped)) && isPartOf(stripped, manifest)) return;
  throw new IgnoreFieldError(
    'change the identity of the manifest, expected them to remove only other fields',
    {
      code: 'agent.ignore-field',
      subject: 'ignoreFields',
    },
  );
}

/** Removes the last segment from every map that the rest of the path selects. Lists are not changed. */
function removeByPath(object: unknown, path: string): void {
  const dot = path.lastIndexOf('.');
  if (dot === -1) throw failure(path, 'has no ".", expected a path such as .spec.replicas');
  const field = path.slice(dot + 1);
  const prefix = path.slice(0, dot);
  const parsed = parseJsonPath(`{${prefix === '' ? '@' : prefix}}`);
  if (!parsed.ok) throw failure(path, parsed.error);
  const found = findResults(parsed.template, object);
  // An absent field need not be removed.
  if (!found.ok) return;
  for (const target of found.results.flat())
    if (typeof target === 'object' && target !== null && !Array.isArray(target))
      delete (target as Record<string, unknown>)[field];
}

function removeByPointer(object: unknown, pointer: string): unknown {
  if (!pointer.startsWith('/'))
    throw failure(pointer, 'is not a JSON pointer, expected it to start with "/"');
  if (!pointerExists(object, pointer)) return object;
  return jsonPatch.applyPatch(object, [{ op: 'remove', path: pointer }]).newDocument;
}

function pointerExists(object: unknown, pointer: string): boolean {
  let value = object;
  for (const raw of pointer.slice(1).split('/')) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return true;
}

async function removeByJq(object: unknown, expression: string): Promise<unknown> {
  let results: readonly unknown[];
  try {
    results = await jq.run(object, `del(${expression})`);
  } catch (error) {
    throw failure(expression, error instanceof Error ? error.message : String(error));
  }
  const [result] = results;
  const isObject = typeof result === 'object' && result !== null && !Array.isArray(result);
  if (results.length !== 1 || !isObject)
    throw failure(expression, `gave ${results.length} values, expected exactly one object`);
  return result;
}

function failure(path: string, problem: string): IgnoreFieldError {
  return new IgnoreFieldError(problem, { code: 'agent.ignore-field', subject: `ignoreFields path ${path}` });
}
