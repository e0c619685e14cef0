import { formatFloat } from '../../fmt/format-float.ts';
import { decodeRune } from '../../text/bytes.ts';
import { hex } from '../../text/quote.ts';
import { GoError } from '../../value/go-error.ts';
import type { GoMap } from '../../value/go-map.ts';
import { type Any, type GoType, isInteger, isUnsigned } from '../../value/go-type.ts';
import { checkDepth, checkText } from '../../value/work.ts';

/** How to write JSON: with `<`, `>` and `&` escaped or not, on one line or indented. */
export interface JsonStyle {
  readonly escapeHtml: boolean;
  readonly indented: boolean;
}

/**
 * encoding/json's Marshal.
 * @throws GoError for what JSON cannot hold
 */
export function encodeJson(value: Any, style: JsonStyle = { escapeHtml: true, indented: false }): string {
  return encodeValue(value, style, 0);
}

function encodeValue(value: Any, style: JsonStyle, depth: number): string {
  checkDepth(depth);
  if (value === null) return 'null';
  const { type, data } = value;
  if (isInteger(value) || isUnsigned(value)) return String(value.data);
  switch (type.kind) {
    case 'bool':
      return String(data);
    case 'string':
      return encodeText(data as string, style.escapeHtml);
    case 'float64':
      return encodeFloat(data as number);
    case 'slice':
      return data === null ? 'null' : encodeList(type, data as readonly unknown[], { style, depth });
    case 'map':
      return data === null ? 'null' : encodeMap(type, data as GoMap, { style, depth });
    default:
      if (type.rawJson !== undefined) return compactJson(type.rawJson(data as never), style.escapeHtml);
      if (type.json !== undefined && data !== null)
        return encodeText(type.json(data as never), style.escapeHtml);
      if (data === null) return 'null';
      throw new GoError(`json: unsupported type: ${type.name}`);
  }
}

/** JSON without spaces between its parts. `<`, `>` and `&` can occur only in its texts. */
function compactJson(json: string, escapeHtml: boolean): string {
  const compact = JSON.stringify(JSON.parse(json));
  return escapeHtml ? compact.replace(/[<>&]/g, (char) => `\\u${hex(char.charCodeAt(0), 4)}`) : compact;
}

interface Place {
  readonly style: JsonStyle;
  readonly depth: number;
}

function inside(type: GoType, data: unknown): Any {
  const { elem } = type;
  return elem === undefined || elem.kind === 'interface' ? (data as Any) : { type: elem, data };
}

function encodeList(type: GoType, list: readonly unknown[], { style, depth }: Place): string {
  const parts = list.map((data) => encodeValue(inside(type, data), style, depth + 1));
  return enclosed('[]', parts, { style, depth });
}

function encodeMap(type: GoType, map: GoMap, { style, depth }: Place): string {
  const colon = style.indented ? ': ' : ':';
  const parts = map
    .entries()
    .map(
      ([key, data]) =>
        `${encodeText(key, style.escapeHtml)}${colon}${encodeValue(inside(type, data), style, depth + 1)}`,
    );
  return enclosed('{}', parts, { style, depth });
}

function enclosed(brackets: '[]' | '{}', parts: readonly string[], { style, depth }: Place): string {
  const [open = '', close = ''] = brackets;
  checkText(parts.reduce((sum, part) => sum + part.length + depth, 0));
  if (!style.indented || parts.length === 0) return open + parts.join(',') + close;
  const line = `\n${'  '.repeat(depth)}`;
  return `${open}${line}  ${parts.join(`,${line}  `)}${line}${close}`;
}

/**
 * A float as JSON. As in JavaScript, it has an exponent below 1e-6 and from 1e21 on, without a
 * leading zero in the exponent.
 */
export function encodeFloat(value: number): string {
  if (!Number.isFinite(value)) throw new GoError(`json: unsupported value: ${formatFloat(value, 'g', -1)}`);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e21))
    return formatFloat(value, 'e', -1).replace(/e-0(\d)$/, 'e-$1');
  return formatFloat(value, 'f', -1);
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

export function encodeText(bytes: string, escapeHtml: boolean): string {
  if (/^[ !#-%'-;=?-[\]-~]*$/.test(bytes)) return `"${bytes}"`;
  let text = '"';
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    const char = bytes.slice(at, at + width);
    if (rune < 0x20 || char === '"' || char === '\\') text += SHORT[char] ?? `\\u${hex(rune, 4)}`;
    else if (escapeHtml && (char === '<' || char === '>' || char === '&')) text += `\\u${hex(rune, 4)}`;
    else if (rune === 0x2028 || rune === 0x2029) text += `\\u${hex(rune, 4)}`;
    else text += rune === 0xfffd && width === 1 ? '\\ufffd' : char;
    at += width;
  }
  return `${text}"`;
}
