import type { Alias, Document, Node, Pair, Scalar as ScalarNode, YAMLMap, YAMLSeq } from 'yaml';
import { isAlias, isMap as isMapNode, isPair, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { formatFloat } from '../../fmt/format-float.ts';
import { sprintf } from '../../fmt/sprintf.ts';
import { decode, encode } from '../../text/bytes.ts';
import { GoError, Refusal } from '../../value/go-error.ts';
import { GoMap, isMap, MAP } from '../../value/go-map.ts';
import type { Any } from '../../value/go-type.ts';
import { BOOL, FLOAT64, isString, LIST, STRING, valueOf } from '../../value/go-type.ts';
import { checkDepth, spend } from '../../value/work.ts';
import { decodeBase64 } from './base-encodings.ts';
import { encodeJson } from './encode-json.ts';
import type { Scalar } from './resolve-scalar.ts';
import { resolveScalar } from './resolve-scalar.ts';
import { yamlFault } from './yaml-fault.ts';

/** sigs.k8s.io/yaml's Unmarshal into a map: Argo CD's fromYaml. Numbers become float64, since they pass through JSON. */
export function decodeYamlMap(bytes: string): GoMap<Any> {
  const value = decodeYaml(bytes);
  if (value === null) return new GoMap();
  if (isMap(value)) return value.data ?? new GoMap();
  throw new GoError(wrongType(value, 'map[string]interface {}'));
}

/** The same into a list: Argo CD's fromYamlArray. */
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

/** The first document of a text. go-yaml does not read the others. */
function decodeYaml(bytes: string): Any {
  spend(bytes.length * 10);
  const text = decode(bytes);
  if (/[\u0085\u2028\u2029]/.test(text))
    throw new Refusal('Berth does not read YAML with the line breaks U+0085, U+2028 and U+2029 of YAML 1.1');
  const directive = /^%.*/.exec(text)?.[0] ?? '%YAML 1.1';
  if (!/^%YAML\s+1\.1\s*(#.*)?$/.test(directive))
    fail(
      `yaml: ${/^%YAML\s+\d+\.\d/.test(directive) ? 'found incompatible YAML document' : 'did not find expected version number'}`,
    );
  const [document] = parseAllDocuments(text, {
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    merge: false,
    logLevel: 'silent',
    prettyErrors: false,
    resolveKnownTags: false,
  });
  if (document === undefined || !('contents' in document)) return null;
  const [error] = document.errors;
  if (error !== undefined) fail(`yaml: ${yamlFault(text, { message: error.message, at: error.pos[0] })}`);
  return new Converter(document, text).convert(document.contents, 0);
}

/** What of a document becomes a value of Go. */
class Converter {
  readonly #document: Document.Parsed;
  readonly #open = new Set<Node>();

  readonly #text: string;

  constructor(document: Document.Parsed, text: string) {
    this.#document = document;
    this.#text = text;
  }

  convert(node: unknown, depth: number): Any {
    checkDepth(depth);
    if (isAlias(node)) return this.#alias(node, depth);
    if (isScalar(node)) return toAny(scalarOf(node, this.#endsOpen(node)));
    if (isSeq(node)) return valueOf(LIST, this.#list(node, depth));
    if (isMapNode(node)) return valueOf(MAP, this.#map(node, depth));
    return null;
  }

  /** Whether a block ends with the text and without a line break: go-yaml adds none. */
  #endsOpen(node: ScalarNode): boolean {
    return (
      node.type?.startsWith('BLOCK') === true &&
      !this.#text.endsWith('\n') &&
      (node.range?.[1] ?? 0) >= this.#text.length
    );
  }

  #alias(alias: Alias, depth: number): Any {
    // Few bytes of aliases can name very much.
    spend(300);
    const node = alias.resolve(this.#document);
    if (node === undefined) fail(`yaml: unknown anchor '${encode(alias.source)}' referenced`);
    if (this.#open.has(node)) fail(`yaml: anchor '${encode(alias.source)}' value contains itself`);
    return this.convert(node, depth + 1);
  }

  #within<T>(node: Node, convert: () => T): T {
    this.#open.add(node);
    const converted = convert();
    this.#open.delete(node);
    return converted;
  }

  #list(node: YAMLSeq, depth: number): readonly Any[] {
    return this.#within(node, () =>
      node.items.map((item) =>
        isPair(item) ? this.convert(item.value, depth + 1) : this.convert(item, depth + 1),
      ),
    );
  }

  #map(node: YAMLMap, depth: number): GoMap<Any> {
    return this.#within(node, () => {
      const entries = new Map<string, Any>();
      for (const pair of node.items) {
        if (isMerge(pair)) this.#merge(entries, pair.value, depth);
        else entries.set(this.#key(pair.key, depth), this.convert(pair.value, depth + 1));
      }
      return GoMap.of(entries);
    });
  }

  /** `<<`: what the map has already stays. Keys that come later replace what was merged. */
  #merge(entries: Map<string, Any>, from: unknown, depth: number): void {
    const sources = isSeq(from) ? from.items.toReversed() : [from];
    for (const source of sources) {
      const value = this.convert(source, depth + 1);
      if (!isMap(value)) return fail('yaml: map merge requires map or sequence of maps as the value');
      for (const [key, entry] of value.data?.entries() ?? []) entries.set(key, entry);
    }
  }

  #key(node: unknown, depth: number): string {
    const key = isAlias(node) ? node.resolve(this.#document) : node;
    if (!isScalar(key)) {
      const shown = sprintf('%#v', [this.convert(key, depth + 1)]);
      return fail(`yaml: invalid map key: ${shown.replaceAll('map[string]', 'map[interface {}]')}`);
    }
    return keyText(scalarOf(key));
  }
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<';
}

/** Keys of JSON are texts. A float as a key loses the precision of 32 bits and more, as in sigs.k8s.io/yaml. */
function keyText(scalar: Scalar): string {
  switch (scalar.tag) {
    case 'int':
      return String(scalar.value);
    case 'bool':
      return String(scalar.value);
    case 'float':
      return formatFloat(Math.fround(scalar.value), 'g', -1);
    case 'null':
      return 'null';
    default:
      return scalar.value;
  }
}

const TAG = 'tag:yaml.org,2002:';

function scalarOf(node: ScalarNode, endsOpen = false): Scalar {
  const source = encode(node.source ?? (typeof node.value === 'string' ? node.value : ''));
  const text = endsOpen ? source.replace(/\n$/, '') : source;
  const tag = node.tag?.startsWith(TAG) === true ? node.tag.slice(TAG.length) : undefined;
  if (node.type !== 'PLAIN' && node.type !== undefined && (tag === undefined || tag === 'str'))
    return { tag: 'str', value: text };
  if (tag === 'str') return { tag: 'str', value: text };
  if (tag === 'binary') return { tag: 'str', value: decodeBase64(text) };
  const resolved = resolveScalar(text);
  if (tag === 'float' && resolved.tag === 'int') return { tag: 'float', value: Number(resolved.value) };
  if (
    tag !== undefined &&
    tag !== resolved.tag &&
    ['bool', 'int', 'float', 'null', 'timestamp'].includes(tag)
  )
    return fail(`yaml: cannot decode !!${resolved.tag} \`${text}\` as a !!${tag}`);
  return resolved;
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
        return fail(`json: unsupported value: ${formatFloat(scalar.value, 'g', -1)}`);
      return valueOf(FLOAT64, scalar.value);
    default:
      return valueOf(STRING, scalar.value);
  }
}
