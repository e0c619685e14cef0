import { type FieldPath, valueAt, withoutFields } from '@berth/kube/model/field-path';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { ADOPTED_ANNOTATION, APPLIED_HASH_ANNOTATION } from './applied/adoption.ts';
import { APPLIED_TAINTS_ANNOTATION, TAINTS_FIELD } from './applied/cluster-taints.ts';
import {
  findField,
  itemName,
  keyName,
  type ManagedFields,
  type ManagedFieldSet as Fields,
  managedFieldsOf,
  restAfter,
  WITHDRAWN_MANAGER,
} from './applied/field-names.ts';
import { APPLY_SET_PART_OF_LABEL } from './apply-set.ts';
import { containsAll } from './desired-object.ts';

/** On an object from Git: the fields that Git sets otherwise, and that were left to the managers that own them; a JSON list of names. */
export const LEFT_FIELDS_ANNOTATION = 'berth.dev/left-fields';

/** What Berth itself writes on an object of Git. It is no part of what the object is. */
export const ADDED_ANNOTATIONS = [
  ADOPTED_ANNOTATION,
  APPLIED_HASH_ANNOTATION,
  APPLIED_TAINTS_ANNOTATION,
  LEFT_FIELDS_ANNOTATION,
  SCHEDULING_DISABLE_ANNOTATION,
  SCHEDULER_ANNOTATION,
];

/** A field that Git sets and that stays as another manager has it. */
export interface LeftField {
  /** As a conflict names it: `.metadata.labels.region`. */
  readonly name: string;
  /** Names of the managers that own it; empty if managedFields do not contain it. */
  readonly managers: readonly string[];
}

/** How the fields of a conflict are handled. */
export interface JudgedConflicts {
  /**
   * Fields to write: Berth's own that a person changed, and lists that are merged with entries of
   * others.
   */
  readonly taken: readonly string[];
  readonly left: readonly LeftField[];
}

/**
 * Decides about fields that other managers own with other values than Git's. Fields that a person
 * changed are written again, if Berth applied the object before and did not leave the field to
 * another manager. Fields of controllers and of other applies are left.
 * @param names of the fields, as the conflict names them
 * @param live with its managedFields
 */
export function judgeConflicts(
  names: readonly string[],
  desired: KubeObject,
  live: KubeObject,
  manager: string,
): JudgedConflicts {
  const set = desired.metadata.labels?.[APPLY_SET_PART_OF_LABEL];
  const isOurs = set !== undefined && live.metadata.labels?.[APPLY_SET_PART_OF_LABEL] === set;
  const before = new Set(isOurs ? leftNames(live) : []);
  const taken: string[] = [];
  const left: LeftField[] = [];
  for (const name of new Set(names)) {
    const holders = fieldHolders(live, name, manager);
    const isTaints = desired.kind === 'ManagedCluster' && name === TAINTS_FIELD;
    // What stayed of an object that left Git before is nobody's.
    const isFree = holders.length > 0 && holders.every((holder) => holder.manager === WITHDRAWN_MANAGER);
    const wasOurs = isOurs && !before.has(name) && holders.length > 0 && holders.every(isByHand);
    if (isTaints || isFree || wasOurs || isDefaultSet(desired, name, holders)) taken.push(name);
    else left.push({ name, managers: holders.map((holder) => holder.manager) });
  }
  return { taken, left };
}

/**
 * The fields that were left to others, if another manager still owns each with another value than
 * Git's. Undefined if one of them may be applied now.
 */
export function standingLeftFields(
  desired: KubeObject,
  live: KubeObject | undefined,
  manager: string,
): readonly LeftField[] | undefined {
  const names = live === undefined ? [] : leftNames(live);
  const stillLeft: LeftField[] = [];
  for (const name of names) {
    const [path, there] = [findField(desired, name), findField(live, name)];
    const holders = fieldHolders(live as KubeObject, name, manager);
    if (path === undefined || holders.length === 0) return undefined;
    if (there !== undefined && containsAll(valueAt(live, there), valueAt(desired, path))) return undefined;
    stillLeft.push({ name, managers: holders.map((holder) => holder.manager) });
  }
  return stillLeft;
}

/**
 * The object to apply without the fields that are left to others, with an annotation of their
 * names.
 * @param more names of further fields to omit, without an annotation
 * @returns undefined if a field is not in the object, or is a label or annotation that Berth needs
 */
export function withoutLeftFields(
  desired: KubeObject,
  left: readonly LeftField[],
  more: readonly string[] = [],
): KubeObject | undefined {
  const names = left.map(({ name }) => name).sort();
  const find = (name: string): readonly FieldPath[] => {
    const path = findField(desired, name);
    return path === undefined ? [] : [path];
  };
  const paths = names.flatMap((name) => (MARKS.has(name) ? [] : find(name)));
  if (paths.length < names.length) return undefined;
  const rest = withoutFields(desired, [...paths, ...more.flatMap(find)]) as KubeObject;
  if (left.length === 0) return rest;
  const annotations = { ...rest.metadata.annotations, [LEFT_FIELDS_ANNOTATION]: JSON.stringify(names) };
  return { ...rest, metadata: { ...rest.metadata, annotations } };
}

const MARKS = new Set([
  `.metadata.labels.${APPLY_SET_PART_OF_LABEL}`,
  `.metadata.annotations.${APPLIED_HASH_ANNOTATION}`,
  `.metadata.annotations.${LEFT_FIELDS_ANNOTATION}`,
]);

/** The names of the fields that the last apply left. Other clients may write the annotation: an invalid value is ignored. */
export function leftNames(live: KubeObject): readonly string[] {
  const text = live.metadata.annotations?.[LEFT_FIELDS_ANNOTATION];
  if (text === undefined) return [];
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : [''];
  } catch {
    return [''];
  }
}

/**
 * Field managers of interactive tools. `before-first-apply` is the manager of all writes before
 * ownership was recorded, or before it was reset. Source: k8s.io/kubectl (field managers of its
 * commands), apiserver `managedfields` (before-first-apply); the default manager is the first word
 * of the user agent, which is Mozilla for browsers.
 */
const INTERACTIVE_TOOLS = /^(?:(?:kubectl|oc)(?:-.*)?|k9s|Mozilla|before-first-apply)$/;

/** The default set that Berth's registration gave a cluster without one. A set that Git names replaces it. */
function isDefaultSet({ kind }: KubeObject, name: string, holders: readonly FieldHolder[]): boolean {
  if (kind !== 'ManagedCluster' || name !== SET_FIELD || holders.length === 0) return false;
  return holders.every(({ manager }) => manager === REGISTRATION_MANAGER);
}

const SET_FIELD = `.metadata.labels.${CLUSTER_SET_LABEL}`;

/** An apply (`kubectl apply --server-side`) owns the field permanently; an edit does not. */
function isByHand({ manager, operation, subresource }: FieldHolder): boolean {
  return operation === 'Update' && subresource === '' && INTERACTIVE_TOOLS.test(manager);
}

/** A manager that owns a field: it was the last to write it. */
type FieldHolder = Required<Pick<ManagedFields, 'manager' | 'operation' | 'subresource'>>;

/**
 * The other managers that own a field, by the managedFields of the live object.
 * @param name the field, as a conflict names it
 * @param manager our manager, which is skipped
 */
export function fieldHolders(live: KubeObject, name: string, manager: string): readonly FieldHolder[] {
  return managedFieldsOf(live)
    .map(({ manager: by = '', operation = '', subresource = '', fieldsV1 = {} }) => ({
      holder: { manager: by, operation, subresource },
      fieldsV1,
    }))
    .filter(({ holder }) => !(holder.manager === manager && holder.operation === 'Apply'))
    .filter(({ fieldsV1 }) => owns(fieldsV1, name))
    .map(({ holder }) => holder);
}

/** Whether a node of the tree owns its field: it has no children, or contains `.`. */
function owns(tree: Fields, name: string): boolean {
  if (name === '') return tree['.'] !== undefined || Object.keys(tree).length === 0;
  return Object.entries(tree).some(([element, below = {}]) => {
    const beginning = elementName(element);
    const rest = beginning === undefined ? undefined : restAfter(name, beginning);
    return rest !== undefined && owns(below, rest);
  });
}

/** An element of the tree as conflicts write it; undefined for `.`. Source: structured-merge-diff `fieldpath/serialize-pe.go`. */
function elementName(element: string): string | undefined {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${text}`;
    case 'k:':
      return keyName(JSON.parse(text) as Readonly<Record<string, unknown>>);
    case 'v:':
      return itemName(JSON.parse(text));
    case 'i:':
      return `[${text}]`;
    default:
      return undefined;
  }
}
