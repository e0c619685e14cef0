import { RawJson } from '../json/go-json-text.ts';
import type { JsonValue } from '../json/json-value.ts';
import type { GoField, GoStruct, TypedObject, TypedValue } from '../types/go-type.ts';

/** Marks a part that differs for each parameter set. */
const VARIES = Symbol('varies');

/**
 * The parts of a template without placeholders. They are rendered and written once, and all
 * Applications of the template share them. Each instance belongs to one template of one
 * ApplicationSet. The returned values must not be changed.
 */
export class FixedParts {
  readonly #rendered = new WeakMap<object, TypedValue | typeof VARIES>();
  readonly #encoded = new WeakMap<object, JsonValue | undefined>();
  readonly #fields = new WeakMap<object, readonly GoField[]>();

  /** The rendered value of a part of the template. */
  rendered(part: object, render: () => TypedValue | undefined): TypedValue | undefined {
    const known = this.#rendered.get(part);
    if (known === VARIES) return render();
    if (known !== undefined) return known;
    if (hasPlaceholder(part)) {
      this.#rendered.set(part, VARIES);
      return render();
    }
    const rendered = render();
    if (rendered === undefined) return undefined;
    this.#rendered.set(part, rendered);
    if (typeof rendered === 'object') this.#encoded.set(rendered, undefined);
    return rendered;
  }

  /** The JSON of a value. The value may be a result of `rendered`. */
  encoded(value: object, encode: () => JsonValue): JsonValue {
    const known = this.#encoded.get(value);
    if (known !== undefined || !this.#encoded.has(value)) return known ?? encode();
    const encoded = encode();
    this.#encoded.set(value, encoded);
    return encoded;
  }

  /** The fields that are set in a struct of the template, in the order of Go. */
  fieldsOf(type: GoStruct, struct: TypedObject): readonly GoField[] {
    const known = this.#fields.get(struct);
    if (known !== undefined) return known;
    const fields = type.fields.filter(({ name }) => struct[name] !== undefined);
    this.#fields.set(struct, fields);
    return fields;
  }
}

function hasPlaceholder(part: unknown): boolean {
  if (typeof part === 'string') return part.includes('{{');
  if (part === null || typeof part !== 'object') return false;
  if (part instanceof RawJson) return hasPlaceholder(part.value);
  return Object.entries(part).some(([key, item]) => key.includes('{{') || hasPlaceholder(item));
}
