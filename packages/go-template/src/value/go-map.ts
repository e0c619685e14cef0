import { compareBytes } from '../text/bytes.ts';
import { type Any, type GoType, INTERFACE, STRING, type Value } from './go-type.ts';
import { spend } from './work.ts';

/** The source of map entries that were not read yet. Keys are byte strings. */
export interface MapSource<D> {
  readonly keys: () => readonly string[];
  readonly has: (key: string) => boolean;
  readonly get: (key: string) => D;
  /** Called before the map changes. */
  readonly beforeChange?: () => void;
}

/**
 * A Go map with string keys. Entries of a source become Go values when they are read, because most
 * templates read few of their parameters. A name such as `__proto__` is a normal key.
 */
export class GoMap<D = unknown> {
  #entries = new Map<string, D>();
  #source: MapSource<D> | undefined;

  constructor(source?: MapSource<D>) {
    this.#source = source;
  }

  static of<D>(entries: Iterable<readonly [string, D]>): GoMap<D> {
    const map = new GoMap<D>();
    for (const [key, data] of entries) map.set(key, data);
    return map;
  }

  get(key: string): D | undefined {
    if (this.#source === undefined || this.#entries.has(key)) return this.#entries.get(key);
    if (!this.#source.has(key)) return undefined;
    const data = this.#source.get(key);
    this.#entries.set(key, data);
    return data;
  }

  has(key: string): boolean {
    return this.#entries.has(key) || (this.#source?.has(key) ?? false);
  }

  set(key: string, data: D): void {
    this.#beginChange();
    this.#entries.set(key, data);
  }

  delete(key: string): void {
    this.#beginChange();
    this.#entries.delete(key);
  }

  get size(): number {
    return this.#source === undefined ? this.#entries.size : this.#source.keys().length;
  }

  /** The keys in byte order: the order in which Go prints a map and ranges over it in templates. */
  keys(): readonly string[] {
    spend(this.size);
    return [...(this.#source?.keys() ?? this.#entries.keys())].sort(compareBytes);
  }

  /** The entries in the order of their keys. */
  entries(): readonly (readonly [string, D])[] {
    return this.keys().map((key) => [key, this.get(key) as D] as const);
  }

  #beginChange(): void {
    if (this.#source === undefined) return;
    this.#source.beforeChange?.();
    for (const key of this.#source.keys()) this.get(key);
    this.#source = undefined;
  }
}

function mapOf<D>(elem: GoType<D>): GoType<GoMap<D> | null> {
  return { kind: 'map', name: `map[string]${elem.name}`, elem };
}

export const MAP = mapOf<Any>(INTERFACE);
export const STRING_MAP = mapOf<string>(STRING);

/** A `map[string]interface {}`, as opposed to a `map[string]string`. */
export function isMap(value: Any | undefined): value is Value<GoMap<Any> | null> {
  return value?.type === MAP;
}
