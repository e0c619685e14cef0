import { celMapGet, celMapKeys, isCelMap } from '../value/cel-map.ts';
import { traverseCost } from '../value/cel-cost.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';
import {
  CelDouble,
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  celTypeName,
  lift,
} from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';
import { doubleText } from './conversions.ts';
import { formatDuration, formatTimestamp } from './time.ts';

/** `"%s is %.2f".format([name, x])`: verbs s d f e b x X o and %%. */

const DIRECTIVE = /%(?:\.(\d+))?(.)/gsu;
const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;

function format(template: string, args: readonly unknown[]): CelResult {
  let used = 0;
  let failure: CelFailure | undefined;
  const text = template.replace(DIRECTIVE, (_all, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (used >= args.length) {
      failure ??= new CelFailure(`index ${used} out of range`);
      return '';
    }
    const part = directive(verb, lift(args[used++]), precision);
    if (part instanceof CelFailure) failure ??= part;
    return typeof part === 'string' ? part : '';
  });
  if (failure !== undefined) return failure;
  return /%$/.test(template.replaceAll('%%', '')) ? new CelFailure('unexpected end of format string') : text;
}

function directive(verb: string, value: CelValue, precision: string | undefined): string | CelFailure {
  switch (verb) {
    case 's':
      return text(value);
    case 'd':
      return integer(value, 10) ?? wrongType(verb, value);
    case 'o':
      return integer(value, 8) ?? wrongType(verb, value);
    case 'b':
      return typeof value === 'boolean'
        ? String(Number(value))
        : (integer(value, 2) ?? wrongType(verb, value));
    case 'x':
    case 'X': {
      const digits = hexadecimal(value);
      if (digits === undefined) return wrongType(verb, value);
      return verb === 'X' ? digits.toUpperCase() : digits;
    }
    case 'f':
    case 'e':
      return real(verb, value, precision);
    default:
      return new CelFailure(`unrecognized formatting clause "${verb}"`);
  }
}

function wrongType(verb: string, value: CelValue): CelFailure {
  return new CelFailure(
    `could not convert argument of type ${celTypeName(value)} to formatting clause "${verb}"`,
  );
}

function integer(value: CelValue, base: number): string | undefined {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof CelUint) return value.value.toString(base);
  if (base === 10 && value instanceof CelDouble && !Number.isFinite(value.value))
    return doubleText(value.value);
  return undefined;
}

function hexadecimal(value: CelValue): string | undefined {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array)
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return integer(value, 16);
}

function real(verb: 'e' | 'f', value: CelValue, precision: string | undefined): string | CelFailure {
  const number =
    value instanceof CelDouble
      ? value.value
      : typeof value === 'bigint'
        ? Number(value)
        : value instanceof CelUint
          ? Number(value.value)
          : undefined;
  if (number === undefined) return wrongType(verb, value);
  if (!Number.isFinite(number)) return Number.isNaN(number) ? 'NaN' : number > 0 ? 'Infinity' : '-Infinity';
  const digits = precision === undefined ? DEFAULT_PRECISION : Number(precision);
  if (digits > MAX_PRECISION) return new CelFailure(`precision ${digits} is too large`);
  if (verb === 'f') return number.toFixed(digits);
  return number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** How `%s` prints a value, also inside lists and maps. */
function text(value: CelValue): string | CelFailure {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof CelDouble)
    return doubleText(value.value).replace('+Inf', 'Infinity').replace('-Inf', '-Infinity');
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof Uint8Array) return new TextDecoder('utf-8').decode(value);
  if (Array.isArray(value)) return listText(value);
  return isCelMap(value) ? mapText(value) : wrongType('s', value);
}

function listText(list: readonly unknown[]): string | CelFailure {
  const parts: string[] = [];
  for (const item of list) {
    const part = text(lift(item));
    if (part instanceof CelFailure) return part;
    parts.push(part);
  }
  return `[${parts.join(', ')}]`;
}

function mapText(map: CelValue): string | CelFailure {
  const parts: string[] = [];
  for (const key of celMapKeys(map)) {
    const value = text(celMapGet(map, key) ?? null);
    if (value instanceof CelFailure) return value;
    parts.push(`${String(key)}: ${value}`);
  }
  return `{${parts.toSorted().join(', ')}}`;
}

export const STRING_FORMAT: readonly CelOverload[] = [
  overload('string.format(list<dyn>): string', format, traverseCost),
];
