import { formatFloat } from '../../fmt/format-float.ts';
import { sprintf } from '../../fmt/sprintf.ts';
import { parseFloat64, parseInt64, parseUint } from '../../text/parse-number.ts';
import { GoError, Refusal } from '../../value/go-error.ts';
import { GoMap, isMap, MAP } from '../../value/go-map.ts';
import { type Any, BOOL, FLOAT64, isString, LIST, STRING, valueOf } from '../../value/go-type.ts';
import { checkDepth, spend } from '../../value/work.ts';
import {
  checkYamlCharacters,
  parseYamlDocument,
  type YamlAlias,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '../../yaml/parse-yaml-document.ts';
import { decodeBase64 } from './base-encodings.ts';
import { encodeJson } from './encode-json.ts';

/**
 * fromYaml of Argo CD: Unmarshal of sigs.k8s.io/yaml into a map. Numbers become float64, because
 * they pass through JSON.
 */
export function decodeYamlMap(bytes: string): GoMap<Any> {
  const value = decodeYaml(bytes);
  if (value === null) return new GoMap();
  if (isMap(value)) return value.data ?? new GoMap();
  throw new GoError(wrongType(value, 'map[string]interface {}'));
}

/** fromYamlArray of Argo CD: the same into a list. */
export function decodeYamlList(bytes: string): readonly Any[] {
  const value = decodeYaml(bytes);
  if (value === null) return [];
  if (value.type === LIST) return value.data as readonly Any[];
  throw new GoError(wrongType(value, '[]interface {}'));
}

function wrongType(value: Any, into: string): string {
  const found = isString(value)
    ? 'string'
    : value?.type.kind === 'bool'
      ? 'bool'
      : value?.type.kind === 'float64'
        ? 'number'
        : value?.type === LIST
          ? 'array'
          : 'object';
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${found} into Go value of type ${into}`;
}

function fail(text: string): never {
  throw new GoError(`error converting YAML to JSON: ${text}`);
}

/** sigs.k8s.io/yaml's YAMLToJSON. */
export function yamlAsJson(bytes: string): string {
  return encodeJson(decodeYaml(bytes));
}

/** The first document of a text. go-yaml does not read later ones. */
function decodeYaml(bytes: string): Any {
  spend(bytes.length * 10);
  try {
    checkYamlCharacters(bytes);
    const node = parseYamlDocument(bytes);
    return node === undefined ? null : new Converter().document(node);
  } catch (error) {
    if (!(error instanceof GoError) || error instanceof Refusal) throw error;
    return fail(error.message);
  }
}

/** Converts a document to Go values. */
class Converter {
  readonly #open = new Set<YamlNode>();
  /**
   * The error of a key that YAML allows and JSON does not. Go reports it after it has read the
   * whole text.
   */
  #wrongKey: string | undefined;

  document(node: YamlNode): Any {
    const value = this.#convert(node, 0);
    if (this.#wrongKey !== undefined) throw new GoError(this.#wrongKey);
    return value;
  }

  #convert(node: YamlNode, depth: number): Any {
    checkDepth(depth);
    switch (node.kind) {
      case 'scalar':
        return toAny(scalarOf(node));
      case 'alias':
        return this.#alias(node, depth);
      case 'list':
        return this.#within(node, () =>
          valueOf(
            LIST,
            node.items.map((item) => this.#convert(item, depth + 1)),
          ),
        );
      case 'map':
        return this.#within(node, () => valueOf(MAP, this.#map(node, depth)));
    }
  }

  #alias({ name, target }: YamlAlias, depth: number): Any {
    // A few bytes of aliases can name very large values.
    spend(300);
    if (this.#open.has(target)) throw new GoError(`yaml: anchor '${name}' value contains itself`);
    return this.#convert(target, depth + 1);
  }

  #within(node: YamlNode, convert: () => Any): Any {
    this.#open.add(node);
    const converted = convert();
    this.#open.delete(node);
    return converted;
  }

  #map({ entries: pairs }: YamlMap, depth: number): GoMap<Any> {
    const entries = new Map<string, Any>();
    for (const [key, value] of pairs) {
      if (isMerge(key)) this.#merge(entries, value, depth);
      else entries.set(this.#key(key, value, depth), this.#convert(value, depth + 1));
    }
    return GoMap.of(entries);
  }

  /** Handles `<<`. The first of several maps wins. Later keys replace merged ones. */
  #merge(entries: Map<string, Any>, from: YamlNode, depth: number): void {
    const sources = from.kind === 'list' ? from.items.toReversed() : [from];
    for (const source of sources) {
      const value = this.#convert(source, depth + 1);
      if (!isMap(value)) throw new GoError('yaml: map merge requires map or sequence of maps as the value');
      for (const [key, entry] of value.data?.entries() ?? []) entries.set(key, entry);
    }
  }

  /** Keys of JSON are texts. */
  #key(node: YamlNode, value: YamlNode, depth: number): string {
    const key = node.kind === 'alias' ? node.target : node;
    if (key.kind !== 'scalar') throw new GoError(`yaml: invalid map key: ${this.#shown(key, depth)}`);
    const scalar = scalarOf(key);
    if (scalar.tag !== 'null') return keyText(scalar);
    this.#wrongKey ??= `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${this.#shown(value, depth)}`;
    return '';
  }

  /** A value as Go's `%#v` shows it. */
  #shown(node: YamlNode, depth: number): string {
    return sprintf('%#v', [this.#convert(node, depth + 1)]).replaceAll('map[string]', 'map[interface {}]');
  }
}

function isMerge(key: YamlNode): boolean {
  return key.kind === 'scalar' && key.value === '<<' && (key.isPlain || key.tag === `${TAG}merge`);
}

/**
 * The text of a key. A float as a key loses all precision beyond 32 bits, as in sigs.k8s.io/yaml.
 */
function keyText(scalar: Exclude<Scalar, { tag: 'null' }>): string {
  if (scalar.tag === 'float') return formatFloat(Math.fround(scalar.value), 'g', -1);
  return String(scalar.value);
}

const TAG = 'tag:yaml.org,2002:';
/** The tags that go-yaml uses to read a scalar. With any other tag the scalar is text. */
const KNOWN_TAGS = ['str', 'bool', 'int', 'float', 'null', 'timestamp'];

function scalarOf({ value, tag: fullTag, isPlain }: YamlScalar): Scalar {
  if (fullTag === '') return isPlain ? resolveScalar(value) : { tag: 'str', value };
  const tag = fullTag.startsWith(TAG) ? fullTag.slice(TAG.length) : '';
  if (tag === 'binary') return { tag: 'str', value: binary(value) };
  if (tag === 'str' || !KNOWN_TAGS.includes(tag)) return { tag: 'str', value };
  const resolved = resolveScalar(value);
  if (tag === 'float' && resolved.tag === 'int') return { tag: 'float', value: Number(resolved.value) };
  if (tag === resolved.tag) return resolved;
  throw new GoError(`yaml: cannot decode !!${resolved.tag} \`${value}\` as a !!${tag}`);
}

function binary(value: string): string {
  const decoded = decodeBase64(value);
  if (decoded.startsWith('illegal base64 data'))
    throw new GoError('yaml: !!binary value contains invalid base64 data');
  return decoded;
}

function toAny(scalar: Scalar): Any {
  switch (scalar.tag) {
    case 'null':
      return null;
    case 'bool':
      return valueOf(BOOL, scalar.value);
    case 'int':
      return valueOf(FLOAT64, Number(scalar.value));
    case 'float':
      if (!Number.isFinite(scalar.value))
        throw new GoError(`json: unsupported value: ${formatFloat(scalar.value, 'g', -1)}`);
      return valueOf(FLOAT64, scalar.value);
    default:
      return valueOf(STRING, scalar.value);
  }
}

/** The meaning of a plain scalar of YAML 1.1 in go-yaml v2 (resolve.go). */
type Scalar =
  | { readonly tag: 'str' | 'merge' | 'timestamp'; readonly value: string }
  | { readonly tag: 'null'; readonly value: null }
  | { readonly tag: 'bool'; readonly value: boolean }
  | { readonly tag: 'int'; readonly value: bigint }
  | { readonly tag: 'float'; readonly value: number };

const WORDS: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, { tag: 'bool', value: true }] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, { tag: 'bool', value: false }] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, { tag: 'null', value: null }] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, { tag: 'float', value: NaN }] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(
    (word) => [word, { tag: 'float', value: Infinity }] as const,
  ),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, { tag: 'float', value: -Infinity }] as const),
  ['<<', { tag: 'merge', value: '<<' }],
]);
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

export function resolveScalar(text: string): Scalar {
  const word = WORDS.get(text);
  // The merge key begins with a character that go-yaml does not look up.
  if (word !== undefined) return word;
  if (text.startsWith('.')) {
    const number = parseFloat64(text);
    return typeof number === 'number' ? { tag: 'float', value: number } : { tag: 'str', value: text };
  }
  return /^[-+0-9]/.test(text) ? resolveNumber(text) : { tag: 'str', value: text };
}

function resolveNumber(text: string): Scalar {
  if (isTimestamp(text)) return { tag: 'timestamp', value: text };
  const plain = text.replaceAll('_', '');
  const int = parseInt64(plain);
  if (typeof int === 'bigint') return { tag: 'int', value: int };
  const uint = parseUint(plain);
  if (typeof uint === 'bigint') return { tag: 'int', value: uint };
  const float = FLOAT.test(plain) ? parseFloat64(plain) : undefined;
  return typeof float === 'number' ? { tag: 'float', value: float } : { tag: 'str', value: text };
}

const DATE =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/;

/** The formats that go-yaml tries: a date, or a date and a time. */
function isTimestamp(text: string): boolean {
  const parts = DATE.exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return false;
  const [
    year = 0,
    month = 0,
    day = 0,
    hour = 0,
    minute = 0,
    second = 0,
    zoneHour = 0,
    zoneMinute = 0,
    ...spaced
  ] = parts;
  const [spacedHour = 0, spacedMinute = 0, spacedSecond = 0] = spaced;
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate() &&
    Math.max(hour, spacedHour) < 24 &&
    Math.max(minute, second, spacedMinute, spacedSecond) < 60 &&
    zoneHour <= 24 &&
    zoneMinute < 60
  );
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Whether a text without quotes is read back as text. */
export function isPlainText(text: string): boolean {
  return resolveScalar(text).tag === 'str' && !BASE_60.test(text);
}
