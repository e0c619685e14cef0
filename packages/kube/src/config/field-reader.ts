type Fields = Readonly<Record<string, unknown>>;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Typed access to the fields of a YAML mapping. `null` counts as absent. Errors never contain values, because they may
 * be credentials.
 * Each method throws an Error that names the field and the expected type.
 */
export class FieldReader {
  readonly #fields: Fields;
  readonly #place: string;

  /** @param place the position of the mapping in its file, for errors: `users[0].user` */
  constructor(value: unknown, place: string) {
    this.#fields = mappingOf(value, place);
    this.#place = place;
  }

  /** Undefined when the field is absent or empty. */
  text(key: string): string | undefined {
    return textOf(this.#fields[key], this.#at(key)) || undefined;
  }

  /** The text of the field if it is valid base64, ignoring line breaks. */
  base64(key: string): string | undefined {
    const value = this.text(key)?.replace(/[\r\n]/g, '');
    if (value === undefined || BASE64.test(value)) return value;
    throw new Error(`${this.#at(key)} is not base64`);
  }

  flag(key: string): boolean {
    const value = this.#fields[key] ?? false;
    if (typeof value === 'boolean') return value;
    throw new Error(`${this.#at(key)} is a ${typeof value}, expected true or false`);
  }

  texts(key: string): readonly string[] {
    return textsOf(this.#fields[key], this.#at(key));
  }

  textMap(key: string): Readonly<Record<string, string>> {
    return this.#map(key, textOf);
  }

  textsMap(key: string): Readonly<Record<string, readonly string[]>> {
    return this.#map(key, textsOf);
  }

  /** Undefined when the field is absent. */
  child(key: string): FieldReader | undefined {
    const value = this.#fields[key] ?? undefined;
    return value === undefined ? undefined : new FieldReader(value, `${this.#place}.${key}`);
  }

  /** Returns a mapping without fields if the field is absent. */
  mapping(key: string): FieldReader {
    return new FieldReader(this.#fields[key], `${this.#place}.${key}`);
  }

  list(key: string): readonly FieldReader[] {
    const place = this.#place === '' ? key : `${this.#place}.${key}`;
    return listOf(this.#fields[key], place).map((item, at) => new FieldReader(item, `${place}[${at}]`));
  }

  /** The value without any conversion. */
  raw(key: string): unknown {
    return this.#fields[key];
  }

  /** @throws Error with the position */
  refuse(problem: string): never {
    throw new Error(`${this.#place}: ${problem}`);
  }

  #at(key: string): string {
    return this.#place === '' ? key : `${this.#place}: ${key}`;
  }

  #map<T>(key: string, read: (value: unknown, place: string) => T): Readonly<Record<string, T>> {
    const place = `${this.#place}.${key}`;
    const entries = Object.entries(mappingOf(this.#fields[key], place));
    return Object.fromEntries(entries.map(([name, value]) => [name, read(value, `${place}: ${name}`)]));
  }
}

function mappingOf(value: unknown, place: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${place || 'the file'} is not a YAML mapping`);
  return value as Fields;
}

function listOf(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`${place} is not a list`);
  return value;
}

function textOf(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new Error(`${place} is a ${typeof value}, expected text`);
}

function textsOf(value: unknown, place: string): readonly string[] {
  return listOf(value, place).map((item, at) => textOf(item, `${place}[${at}]`));
}
