import { findResults } from '@berth/kube-jsonpath/find-results';
import { parseJsonPath } from '@berth/kube-jsonpath/parse-template';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { IgnoreField, ServerSideApplyConfig } from '@berth/ocm/kind/manifest-work';
import { ConflictError, InputError } from '@berth/runtime/errors';
import { canonicalJson, jsonEqual } from '@berth/runtime/json/json-equal';
import { sha256 } from '@berth/runtime/sha256';
import jsonPatch from 'fast-json-patch';
import { objectIdOf } from '../cluster/manifest-task.ts';
import {
  type ApplyOutcome,
  failureText,
  isApplyConflict,
  missingNamespace,
} from '../rules/applied/kube-failure.ts';
import { AGENT_MANAGER, isShared, withOwnerLabel } from '../rules/applied/ownership.ts';
import type { PlannedCondition } from '../rules/feedback/observed-status.ts';
import { takeOverFields } from '../rules/update/take-over-fields.ts';
import { applyByCreateOnly, applyByUpdate, updateOwnerReference } from './apply-by-update.ts';
import {
  type ApplyContext,
  desiredDigest,
  readLive,
  type StrategyResult,
  withManagers,
} from './apply-cache.ts';
import { JqRunner } from './jq-runner.ts';

/**
 * Applies one manifest by its strategy. Errors are returned as outcomes, so that one manifest does
 * not stop the others.
 */
export async function applyManifest(context: ApplyContext): Promise<ApplyOutcome> {
  try {
    const { object, wrote } = await byStrategy(context);
    return { kind: 'applied', object, wrote };
  } catch (error) {
    const ignoreField = error instanceof IgnoreFieldError;
    // Only the other manager can give up the fields, so an early retry is useless.
    const lost = isApplyConflict(error);
    return {
      kind: 'failed',
      problem: failureText(error),
      ignoreField,
      retry: lost ? 'never' : 'soon',
      conflict: error instanceof ConflictError && !lost,
      missingNamespace: missingNamespace(error),
    };
  }
}

function byStrategy(context: ApplyContext): Promise<StrategyResult> {
  switch (context.strategy?.type ?? 'Update') {
    case 'Update':
      return applyByUpdate(context);
    case 'CreateOnly':
      return applyByCreateOnly(context);
    case 'ServerSideApply':
      return applyByServer(context);
    case 'ReadOnly':
      return Promise.resolve({ wrote: false });
  }
}

export function appliedCondition(outcome: ApplyOutcome): PlannedCondition {
  if (outcome.kind === 'applied')
    return {
      type: 'Applied',
      status: 'True',
      reason: 'AppliedManifestComplete',
      message: 'Apply manifest complete',
    };
  return outcome.ignoreField
    ? {
        type: 'Applied',
        status: 'False',
        reason: 'AppliedManifestSSAIgnoreFieldError',
        message: `Failed to process ignoreFields: ${outcome.problem}`,
      }
    : {
        type: 'Applied',
        status: 'False',
        reason: 'AppliedManifestFailed',
        message: `Failed to apply manifest: ${outcome.problem}`,
      };
}

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

const jq = new JqRunner();

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

/**
 * Strategy ServerSideApply. The owner references are written by a separate patch, because other works share them. Until
 * then, the owner label says that the object is ours.
 */
async function applyByServer(context: ApplyContext): Promise<StrategyResult> {
  try {
    return await applyAndOwn(context);
  } catch (error) {
    if (!context.likelyNew || !isApplyConflict(error)) throw error;
    // It does exist, and the fields may be our own.
    return applyAndOwn({ ...context, likelyNew: false, fresh: true });
  }
}

async function applyAndOwn(context: ApplyContext): Promise<StrategyResult> {
  const config = context.strategy?.serverSideApply ?? {};
  const manifest = withoutNullTimes(withoutOwners(context.task.manifest)) as KubeObject;
  const ignored = config.ignoreFields ?? [];
  const result =
    ignored.length === 0
      ? await applyAll(context, manifest, config)
      : await applyWithIgnored(context, manifest, config);
  if (result.object === undefined) return result;
  const owners = await updateOwnerReference(context, result.object);
  const object = owners.object ?? result.object;
  if (result.wanted !== undefined)
    context.memory.remember(objectIdOf(context.task), result.wanted, object, {
      appliedAs: managerOf(config),
    });
  return { object, wrote: result.wrote || owners.wrote };
}

interface Applied extends StrategyResult {
  /** Recorded when the owner references are written, too. */
  readonly wanted?: string;
}

async function applyAll(
  context: ApplyContext,
  manifest: KubeObject,
  config: ServerSideApplyConfig,
): Promise<Applied> {
  const { force, fieldManager } = config;
  const wanted = desiredDigest('Apply', manifest, force ?? false, fieldManager ?? '', context.ownership);
  const live = context.likelyNew ? undefined : await readLive(context);
  if (live !== undefined && context.memory.isAsWritten(objectIdOf(context.task), wanted, live))
    return { object: live, wrote: false };
  const object = await send(context, manifest, config, live);
  return { object, wanted, wrote: object.metadata.resourceVersion !== live?.metadata.resourceVersion };
}

/**
 * Annotation with a digest of the last applied manifest with ignoreFields; an equal digest means
 * that drift is ignored.
 */
const HASH_ANNOTATION = 'open-cluster-management.io/config-spec-hash';

async function applyWithIgnored(
  context: ApplyContext,
  manifest: KubeObject,
  config: ServerSideApplyConfig,
): Promise<Applied> {
  const present = (config.ignoreFields ?? []).filter(isOnSpokePresent);
  const stripped = await removeIgnoredFields(manifest, present);
  const hash = sha256(canonicalJson(stripped));
  const live = await readLive(context);
  if (live === undefined)
    return { object: await send(context, withHash(manifest, hash), config, live), wrote: true };
  if (live.metadata.annotations?.[HASH_ANNOTATION] === hash) return { object: live, wrote: false };
  return { object: await send(context, withHash(stripped, hash), config, live), wrote: true };
}

/** Such a field is applied only when the object is created. */
function isOnSpokePresent(field: IgnoreField): boolean {
  return field.condition === 'OnSpokePresent';
}

/** @param before undefined if it does not exist yet, or was not read */
async function send(
  context: ApplyContext,
  manifest: KubeObject,
  config: ServerSideApplyConfig,
  before: KubeObject | undefined,
): Promise<KubeObject> {
  const { cluster, live, task } = context;
  const { reference, owned } = context.ownership;
  const hasOwner = (before?.metadata.ownerReferences ?? []).some(({ uid }) => uid === reference.uid);
  const sent = owned && !hasOwner ? withOwnerLabel(manifest, reference) : manifest;
  if (before !== undefined) await takeOver(context, before, config);
  const options = { fieldManager: managerOf(config), force: config.force ?? false };
  const object = await cluster.apply(task.kind, sent, options);
  live.written(task.kind, object, context.work);
  return object;
}

function managerOf({ fieldManager = '' }: ServerSideApplyConfig): string {
  return fieldManager === '' ? AGENT_MANAGER : fieldManager;
}

/**
 * Gives the fields that the agent wrote in another way to the manager that applies now. Not those of an object that works
 * share: another work may have written them, which is a conflict.
 */
async function takeOver(
  context: ApplyContext,
  before: KubeObject,
  config: ServerSideApplyConfig,
): Promise<void> {
  const { cluster, live, memory, task, work } = context;
  const { reference } = context.ownership;
  const manager = managerOf(config);
  if (memory.lastManager(objectIdOf(task)) === manager) return;
  const current = await withManagers(context, before);
  if (current === undefined || isShared(current.metadata, reference)) return;
  const { uid, resourceVersion, ownerReferences = [] } = current.metadata;
  const managedFields = takeOverFields(current, {
    manager,
    isOwned: ownerReferences.some((owner) => owner.uid === reference.uid),
    reach: await removeIgnoredFields(current, (config.ignoreFields ?? []).filter(isOnSpokePresent)),
  });
  if (managedFields === undefined) return;
  const patch = { metadata: { uid, resourceVersion, managedFields } };
  live.written(
    task.kind,
    await cluster.mergePatch(task.kind, task.key, patch, { fieldManager: AGENT_MANAGER }),
    work,
  );
}

function withHash(manifest: KubeObject, hash: string): KubeObject {
  const annotations = { ...manifest.metadata.annotations, [HASH_ANNOTATION]: hash };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

function withoutOwners(manifest: KubeObject): KubeObject {
  const { ownerReferences: _dropped, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
}

/** Go clients write `creationTimestamp: null` at every level. Applying it would raise the generation each time. */
function withoutNullTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => key !== 'creationTimestamp' || item !== null)
      .map(([key, item]) => [key, withoutNullTimes(item)]),
  );
}

/**
 * Whether `part` results from `whole` by removing fields and list items, without additions, moves
 * or changes.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && isPartOfList(part, whole);
  if (typeof part !== 'object' || part === null) return jsonEqual(part, whole);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  return Object.entries(part).every(
    ([key, value]) =>
      Object.hasOwn(whole, key) && isPartOf(value, (whole as Readonly<Record<string, unknown>>)[key]),
  );
}

/** Each item matches the first candidate after the previous match, so the list is read once. */
function isPartOfList(part: readonly unknown[], whole: readonly unknown[]): boolean {
  let at = 0;
  for (const item of part) {
    while (at < whole.length && !isPartOf(item, whole[at])) at++;
    if (at === whole.length) return false;
    at++;
  }
  return true;
}
