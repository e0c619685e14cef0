import type { JsonValue } from '../json/json-value.ts';
import { RawJson } from '../json/raw-json.ts';
import type { GoField, GoStruct } from '../types/go-type.ts';
import type { TypedObject, TypedValue } from './typed-value.ts';

/** Means that a part is different for each set of parameters. */
const VARIES = Symbol('varies');

/**
 * The parts of a template that have no placeholder: they are rendered and written once, and all Applications of the template share them. Each
 * belongs to one template of one ApplicationSet, and nobody changes what it gives.
 */
export class FixedParts {
  readonly #rendered = new WeakMap<object, TypedValue | typeof VARIES>();
  readonly #encoded = new WeakMap<object, JsonValue | undefined>();
  readonly #fields = new WeakMap<object, readonly GoField[]>();

  /** What a part of the template becomes. */
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

  /** The JSON of a value, which may be one that `rendered` gave. */
  encoded(value: object, encode: () => JsonValue): JsonValue {
    const known = this.#encoded.get(value);
    if (known !== undefined || !this.#encoded.has(value)) return known ?? encode();
    const encoded = encode();
    this.#encoded.set(value, encoded);
    return encoded;
  }

  /** The fields that a struct of the template has, in Go's order. */
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
