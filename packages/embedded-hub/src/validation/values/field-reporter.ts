import { dnsSubdomain, type NameRule } from '@berth/kube/model/selector/name-rules';
import { deepEqual, isObject, type JsonObject, type JsonValue, listAt } from '../../json/json-value.ts';
import { type FieldPath, pathText } from '../../schema/field-path.ts';
import {
  duplicate,
  forbiddenField,
  IMMUTABLE,
  invalidValue,
  notFoundValue,
  required,
  tooLong,
  tooMany,
  unsupportedValue,
} from '../../schema/field-problems.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';

const EMPTY: JsonObject = {};

/** Key of the root, the whole object. */
const ROOT = -1;

/**
 * A field path in the object that is validated, together with the list that problems are added to,
 * as field.Path and field.ErrorList in Kubernetes. The text of a path is built only when there is a
 * problem.
 */
export class FieldReporter implements FieldPath {
  readonly problems: FieldProblem[];
  readonly parent: FieldPath | undefined;
  readonly key: string | number;
  readonly inBrackets: boolean;

  constructor(problems: FieldProblem[], parent?: FieldPath, key: string | number = ROOT, inBrackets = false) {
    this.problems = problems;
    this.parent = parent;
    this.key = key;
    this.inBrackets = inBrackets;
  }

  get path(): FieldPath | undefined {
    return this.key === ROOT ? undefined : this;
  }

  /** The path of a field or list item below this one. */
  at(key: string | number): FieldReporter {
    return new FieldReporter(this.problems, this.path, key);
  }

  /** The path of a map entry: `data[key]`. */
  entry(key: string): FieldReporter {
    return new FieldReporter(this.problems, this.path, key, true);
  }

  /** The path of the whole object. */
  root(): FieldReporter {
    return new FieldReporter(this.problems);
  }

  /**
   * Visits the items of a list of objects; an item of another type is treated as an empty object.
   */
  each(
    owner: JsonObject | undefined,
    key: string,
    check: (item: JsonObject, at: FieldReporter, index: number) => void,
  ): void {
    const items = listAt(owner, key);
    if (items.length === 0) return;
    const list = this.at(key);
    for (const [index, item] of items.entries()) check(isObject(item) ? item : EMPTY, list.at(index), index);
  }

  toString(): string {
    return pathText(this.path);
  }

  required(detail = ''): void {
    this.problems.push(required(this.toString(), detail));
  }

  invalid(value: JsonValue | undefined, detail: string): void {
    this.problems.push(invalidValue(this.toString(), value, detail));
  }

  /** Adds an "Invalid value" problem that does not show the value. */
  invalidWithoutValue(detail: string): void {
    const message = `Invalid value: ${detail}`;
    this.problems.push({ field: this.toString(), reason: 'FieldValueInvalid', message });
  }

  /** Adds each problem that the rule finds in the text. */
  validName(text: string, rule: NameRule): void {
    for (const detail of rule(text)) this.invalid(text, detail);
  }

  forbidden(detail: string): void {
    this.problems.push(forbiddenField(this.toString(), detail));
  }

  /** @param supported in the order in which the API server prints them */
  unsupported(value: JsonValue, supported: readonly JsonValue[]): void {
    this.problems.push(unsupportedValue(this.toString(), value, supported));
  }

  /** Checks a required enum value. */
  oneOf(value: string, supported: readonly string[]): void {
    if (value === '') this.required();
    else this.oneOfIfSet(value, supported);
  }

  /** Checks an optional enum value; '' counts as absent. */
  oneOfIfSet(value: string, supported: readonly string[]): void {
    if (value !== '' && !supported.includes(value)) this.unsupported(value, supported);
  }

  /** Checks an optional enum value that is a pointer in Go, so that '' is not the same as absent. */
  oneOfIfPresent(value: JsonValue | undefined, supported: readonly string[]): void {
    if (typeof value === 'string' && !supported.includes(value)) this.unsupported(value, supported);
  }

  nonNegative(value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(value, 'must be greater than or equal to 0');
  }

  positive(value: number | undefined): void {
    if (value !== undefined && value <= 0) this.invalid(value, 'must be greater than 0');
  }

  inRange(value: number | undefined, low: number, high: number): void {
    if (value !== undefined && (value < low || value > high))
      this.invalid(value, `must be between ${String(low)} and ${String(high)}, inclusive`);
  }

  /** Checks an immutable value. */
  immutable(value: JsonValue | undefined, old: JsonValue | undefined): void {
    if (!deepEqual(value, old)) this.invalid(value, IMMUTABLE);
  }

  duplicate(value: JsonValue, detail = ''): void {
    this.problems.push(duplicate(this.toString(), value, detail));
  }

  notFound(value: JsonValue, detail = ''): void {
    this.problems.push(notFoundValue(this.toString(), value, detail));
  }

  tooLong(limit: number): void {
    this.problems.push(tooLong(this.toString(), limit));
  }

  tooMany(count: number, limit: number): void {
    this.problems.push(tooMany(this.toString(), count, limit));
  }
}

/** Validation of one built-in kind, in addition to the metadata checks of all kinds. */
export interface KindRules {
  /** Default: a DNS subdomain. */
  readonly name?: NameRule;
  /** Finalizers need no domain. */
  readonly anyFinalizer?: true;
  /**
   * How often the API server validates metadata on update; it reports a problem each time. `new`:
   * the third check is the one of a new object. `new twice`: the third and the fourth. Default 3.
   */
  readonly metadataChecks?: 2 | 'new' | 'new twice' | 4;
  /** Checks the whole object, on create and on update; `old` is undefined on create. */
  readonly validate: (object: JsonObject, at: FieldReporter, old: JsonObject | undefined) => void;
  /** Checks a write through a subresource. Default: only metadata is checked. */
  readonly validateSubresource?: (
    subresource: string,
    object: JsonObject,
    at: FieldReporter,
    old: JsonObject,
  ) => void;
}

const KEY_LIMIT = 253;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys of ConfigMaps and Secrets. Source: apimachinery, pkg/util/validation (IsConfigMapKey). */
export const configKey: NameRule = (key) => {
  const problems: string[] = [];
  if (key.length > KEY_LIMIT) problems.push(`must be no more than ${String(KEY_LIMIT)} characters`);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) problems.push(KEY_TEXT);
  if (key === '.' || key === '..') problems.push(`must not be '${key}'`);
  else if (key.startsWith('..')) problems.push("must not start with '..'");
  return problems;
};

/** Paths of files in volumes and containers. */
export function checkNoBacksteps(path: string, at: FieldReporter): void {
  if (path.split('/').includes('..')) at.invalid(path, "must not contain '..'");
}

/** A path below another one. */
export function checkDescendingPath(path: string, at: FieldReporter): void {
  if (path.startsWith('/')) at.invalid(path, 'must be a relative path');
  checkNoBacksteps(path, at);
}

/** A relative path in a volume. Names that start with `..` are reserved for the kubelet. */
export function checkVolumePath(path: string, at: FieldReporter): void {
  checkDescendingPath(path, at);
  if (path.startsWith('..') && !path.startsWith('../')) at.invalid(path, "must not start with '..'");
}

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** `example.com/path`. Source: apimachinery, pkg/util/validation (IsDomainPrefixedPath). */
export function checkDomainPath(text: string, at: FieldReporter): void {
  const slash = text.indexOf('/');
  if (text === '') at.required();
  else if (slash <= 0 || slash === text.length - 1)
    at.invalid(text, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    at.validName(text.slice(0, slash), dnsSubdomain);
    const path = text.slice(slash + 1);
    if (!new RegExp(`^${PATH_PATTERN}$`).test(path))
      at.invalid(path, `Invalid path (regex used for validation is '${PATH_PATTERN}')`);
  }
}
