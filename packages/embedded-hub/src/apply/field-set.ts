import { cutText } from '../wire/status-error.ts';
import { isObject, type JsonObject, setOwn } from '../json/json-value.ts';
import { chargeWork } from '../json/work-budget.ts';

/*
 * A set of fields of one object, as a trie in the notation of FieldsV1: `f:NAME` a field, `v:JSON` an item of a set, `k:JSON` an item of
 * a keyed list. A node may be a member itself (`.` in FieldsV1, or an empty object) and may have children.
 * Sets are values: every function returns a new one and may share parts of its arguments.
 */
export interface FieldSet {
  readonly members: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const EMPTY_SET: FieldSet = { members: new Set(), children: new Map() };

/** Parsing, sorting and writing an element cost more than comparing one. */
const STEPS_PER_KEY = 3;
const MAX_PATH_LENGTH = 1_024;

const NO_MEMBERS: ReadonlySet<string> = new Set();
const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map();

/**
 * Builds a set. A node is added to its parent with its first member, so that no empty nodes must be
 * removed at the end: most compared values do not differ, and this runs on every write.
 */
export class FieldSetBuilder implements FieldSet {
  readonly #parent: FieldSetBuilder | undefined;
  readonly #element: string;
  #members: Set<string> | undefined;
  #children: Map<string, FieldSetBuilder> | undefined;

  constructor(parent?: FieldSetBuilder, element = '') {
    this.#parent = parent;
    this.#element = element;
  }

  get members(): ReadonlySet<string> {
    return this.#members ?? NO_MEMBERS;
  }

  get children(): ReadonlyMap<string, FieldSet> {
    return this.#children ?? NO_CHILDREN;
  }

  add(element: string): void {
    if (this.#members === undefined) {
      this.#members = new Set();
      this.#attach();
    }
    this.#members.add(element);
  }

  /** The node below `element`. Add members to it before you request the same one again. */
  at(element: string): FieldSetBuilder {
    return this.#children?.get(element) ?? new FieldSetBuilder(this, element);
  }

  #attach(): void {
    const parent = this.#parent;
    if (parent === undefined || parent.#children?.has(this.#element) === true) return;
    parent.#children ??= new Map();
    parent.#children.set(this.#element, this);
    parent.#attach();
  }
}

/** Only the root needs to be checked, because no function here leaves an empty node in a set. */
export function isEmptySet(set: FieldSet): boolean {
  return set.members.size === 0 && set.children.size === 0;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left;
  if (isEmptySet(left)) return right;
  chargeNode(left);
  const children = new Map(left.children);
  for (const [key, node] of right.children) {
    const own = children.get(key);
    children.set(key, own === undefined ? node : union(own, node));
  }
  const members = new Set(left.members);
  for (const key of right.members) members.add(key);
  return { members, children };
}

/** The union of all sets, in one walk. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  const filled = sets.filter((set) => !isEmptySet(set));
  const [first, second] = filled;
  if (first === undefined) return EMPTY_SET;
  if (second === undefined) return first;
  const members = new Set<string>();
  const below = new Map<string, FieldSet[]>();
  for (const set of filled) {
    chargeNode(set);
    for (const key of set.members) members.add(key);
    for (const [key, node] of set.children) {
      const known = below.get(key);
      if (known === undefined) below.set(key, [node]);
      else known.push(node);
    }
  }
  const children = new Map<string, FieldSet>();
  for (const [key, nodes] of below) children.set(key, unionOfAll(nodes));
  return { members, children };
}

/** Members of `left` that are not members of `right`; children are compared one by one. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(right)) return left;
  chargeNode(left);
  const children = new Map<string, FieldSet>();
  for (const [key, node] of left.children) {
    const other = right.children.get(key);
    addNode(children, key, other === undefined ? node : difference(node, other));
  }
  return { members: membersWithout(left.members, right.members), children };
}

/** Like `difference`, but a member of `right` also removes everything below it. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  chargeNode(left);
  const children = new Map<string, FieldSet>();
  for (const [key, node] of left.children) {
    if (right.members.has(key)) continue;
    const other = right.children.get(key);
    addNode(children, key, other === undefined ? node : recursiveDifference(node, other));
  }
  return { members: membersWithout(left.members, right.members), children };
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  chargeNode(left);
  const children = new Map<string, FieldSet>();
  for (const [key, node] of left.children) {
    const other = right.children.get(key);
    if (other !== undefined) addNode(children, key, intersection(node, other));
  }
  const members = new Set<string>();
  for (const key of left.members) if (right.members.has(key)) members.add(key);
  return { members, children };
}

function chargeNode(node: FieldSet): void {
  chargeWork(node.members.size + node.children.size);
}

function addNode(children: Map<string, FieldSet>, key: string, node: FieldSet): void {
  if (!isEmptySet(node)) children.set(key, node);
}

function membersWithout(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  if (left.size === 0 || right.size === 0) return left;
  const members = new Set<string>();
  for (const key of left) if (!right.has(key)) members.add(key);
  return members;
}

export function equalSets(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  if (left.members.size !== right.members.size || left.children.size !== right.children.size) return false;
  for (const key of left.members) if (!right.members.has(key)) return false;
  for (const [key, node] of left.children) {
    const other = right.children.get(key);
    if (other === undefined || !equalSets(node, other)) return false;
  }
  return true;
}

/** Reads FieldsV1; invalid parts are ignored. */
export function fieldSetFromJson(json: unknown): FieldSet {
  if (!isObject(json)) return EMPTY_SET;
  const members = new Set<string>();
  const children = new Map<string, FieldSet>();
  const keys = Object.keys(json);
  chargeWork(keys.length * STEPS_PER_KEY);
  for (const key of keys) {
    const value = json[key];
    if (key === '.' || !isObject(value)) continue;
    const below = Object.keys(value);
    if (below.length === 0 || Object.hasOwn(value, '.')) members.add(key);
    if (below.some((one) => one !== '.')) addNode(children, key, fieldSetFromJson(value));
  }
  return { members, children };
}

/** Whether `fieldSetFromJson` would return a non-empty set; stops at the first member. */
export function hasMember(json: unknown): boolean {
  if (!isObject(json)) return false;
  return Object.keys(json).some((key) => {
    const value = json[key];
    if (key === '.' || !isObject(value)) return false;
    return Object.keys(value).length === 0 || Object.hasOwn(value, '.') || hasMember(value);
  });
}

/** Writes FieldsV1 with sorted keys. */
export function fieldSetToJson(set: FieldSet): JsonObject {
  const json: JsonObject = {};
  const keys = [...set.members];
  for (const key of set.children.keys()) if (!set.members.has(key)) keys.push(key);
  chargeWork(keys.length * STEPS_PER_KEY);
  for (const key of keys.sort()) {
    const node = set.children.get(key);
    const below = node === undefined ? {} : fieldSetToJson(node);
    const both = node !== undefined && set.members.has(key) && Object.keys(below).length > 0;
    setOwn(json, key, both ? { '.': {}, ...below } : below);
  }
  return json;
}

export function memberCount(set: FieldSet): number {
  chargeNode(set);
  let count = set.members.size;
  for (const node of set.children.values()) count += memberCount(node);
  return count;
}

/**
 * Members as printed paths, `.spec.ports[port=80,protocol="TCP"].name`; a node's members before its children.
 * @param limit most that are returned
 */
export function memberPaths(set: FieldSet, limit = Number.POSITIVE_INFINITY, prefix = ''): readonly string[] {
  const pathOf = (element: string): string => cutText(prefix + elementText(element), MAX_PATH_LENGTH);
  const paths = [...set.members].sort().slice(0, limit).map(pathOf);
  for (const key of [...set.children.keys()].sort()) {
    if (paths.length >= limit) break;
    const below = memberPaths(set.children.get(key) as FieldSet, limit - paths.length, pathOf(key));
    for (const path of below) paths.push(path);
  }
  return paths;
}

/** One path element as text for messages. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  if (!element.startsWith('k:')) return `[${rest}]`;
  const keys = parseKeys(rest);
  if (keys === undefined) return `[${rest}]`;
  return `[${Object.keys(keys)
    .map((key) => `${key}=${JSON.stringify(keys[key])}`)
    .join(',')}]`;
}

/** Clients may write managedFields themselves, so an element can hold anything. */
function parseKeys(text: string): JsonObject | undefined {
  try {
    const keys: unknown = JSON.parse(text);
    return isObject(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The set of all paths from the root to the given paths, e.g. `pathsSet(['f:metadata', 'f:name'])`.
 */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  const root = new FieldSetBuilder();
  for (const path of paths) {
    let node = root;
    for (const element of path.slice(0, -1)) node = node.at(element);
    const last = path[path.length - 1];
    if (last !== undefined) node.add(last);
  }
  return root;
}
