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
import type { NameRule } from '../../../core/model/selector/name-rules.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, isObject, listAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../wire/status-errors.ts';

const EMPTY: JsonObject = {};

/** Key of the place of the whole object. */
const ROOT = -1;

/** A place in an object that is checked, and where what is wrong there is written down. Most places are only passed. */
export class Place implements FieldPath {
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

  /** The place of a field or of a list item below this one. */
  at(key: string | number): Place {
    return new Place(this.problems, this.path, key);
  }

  /** The place of a map entry: `data[key]`. */
  entry(key: string): Place {
    return new Place(this.problems, this.path, key, true);
  }

  /** The place of the whole object. */
  root(): Place {
    return new Place(this.problems);
  }

  /** Visits the items of a list of objects; anything else in it counts as an empty object. */
  each(
    owner: JsonObject | undefined,
    key: string,
    check: (item: JsonObject, at: Place, index: number) => void,
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

  /** Something wrong with the whole of a value that is not shown. */
  wrong(detail: string): void {
    const message = `Invalid value: ${detail}`;
    this.problems.push({ field: this.toString(), reason: 'FieldValueInvalid', message });
  }

  /** Everything that the rule finds wrong with the text. */
  named(text: string, rule: NameRule): void {
    for (const detail of rule(text)) this.invalid(text, detail);
  }

  forbidden(detail: string): void {
    this.problems.push(forbiddenField(this.toString(), detail));
  }

  /** @param supported in the order in which the API server prints them */
  unsupported(value: JsonValue, supported: readonly JsonValue[]): void {
    this.problems.push(unsupportedValue(this.toString(), value, supported));
  }

  /** A word that must be there and be one of those. */
  oneOf(value: string, supported: readonly string[]): void {
    if (value === '') this.required();
    else this.oneOfIfSet(value, supported);
  }

  /** A word that may be missing. */
  oneOfIfSet(value: string, supported: readonly string[]): void {
    if (value !== '' && !supported.includes(value)) this.unsupported(value, supported);
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

  /** A value that must be what it was. */
  fixed(value: JsonValue | undefined, old: JsonValue | undefined): void {
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
