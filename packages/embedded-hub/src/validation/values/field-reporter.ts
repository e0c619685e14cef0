import type { FieldPath } from '../../schema/field-path.ts';
import { pathText } from '../../schema/field-path.ts';
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
import type { NameRule } from '@berth/kube/model/selector/name-rules';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, isObject, listAt } from '../../json/json-value.ts';
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
