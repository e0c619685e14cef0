import { encodeRune } from '../text/bytes.ts';
import { Refusal } from '../value/go-error.ts';
import type { GoMap } from '../value/go-map.ts';
import type { Any, Complex, GoType, Value } from '../value/go-type.ts';
import { isInteger, isUnsigned } from '../value/go-type.ts';
import { checkDepth, checkLength, spend } from '../value/work.ts';
import type { Flags } from './flags.ts';
import { noFlags, pad } from './flags.ts';
import { formatInteger } from './format-integer.ts';
import { formatComplex, formatNumber } from './format-number.ts';
import { formatString } from './format-string.ts';

const NIL = '<nil>';

/** Writes values as fmt does (fmt/print.go). Text is byte strings. */
export class Printer {
  text = '';
  flags: Flags = noFlags();
  /** True while it writes `%!d(string=…)`. Then it does not call the method String. */
  #erroring = false;

  write(text: string): void {
    checkLength(this.text.length + text.length);
    spend(1 + (text.length >> 3));
    this.text += text;
  }

  /** One argument with a verb (printArg). */
  printArg(arg: Any, verb: string): void {
    if (arg === null) {
      if (verb === 'T' || verb === 'v') this.write(pad(NIL, this.flags));
      else this.#badVerb(undefined, verb);
      return;
    }
    if (verb === 'T') return this.write(formatString(arg.type.name, 's', this.flags) ?? '');
    if (verb === 'p') return this.#pointer(arg, verb);
    this.#value(arg, verb, 0);
  }

  #badVerb(value: Value | undefined, verb: string): void {
    this.#erroring = true;
    this.write(`%!${encodeRune(verb.codePointAt(0) ?? 0)}(`);
    if (value === undefined) this.write(NIL);
    else {
      this.write(`${value.type.name}=`);
      this.#value(value, 'v', 0);
    }
    this.write(')');
    this.#erroring = false;
  }

  #value(value: Value, verb: string, depth: number): void {
    checkDepth(depth);
    if (this.#asText(value, verb)) return;
    const text = this.#scalar(value, verb);
    if (text !== undefined) return this.write(text);
    switch (value.type.kind) {
      case 'interface':
        return this.#interface(value as Value<Any>, verb, depth);
      case 'map':
        return this.#map(value as Value<GoMap | null>, verb, depth);
      case 'slice':
        return this.#slice(value as Value<readonly unknown[] | null>, verb, depth);
      case 'struct':
      case 'ptr':
      case 'func':
        throw new Refusal(`Berth does not print a ${value.type.name} with %${verb}`);
      default:
        this.#badVerb(value, verb);
    }
  }

  /** A value whose type has the method String. */
  #asText(value: Value, verb: string): boolean {
    const { text } = value.type;
    if (text === undefined || this.#erroring || this.flags.sharpV || !'vsxXq'.includes(verb)) return false;
    this.write(formatString(text(value.data as never), verb, this.flags) ?? '');
    return true;
  }

  #scalar(value: Value, verb: string): string | undefined {
    if (isInteger(value)) return formatInteger(value.data, verb, this.flags, true);
    if (isUnsigned(value)) return formatInteger(value.data, verb, this.flags, false);
    switch (value.type.kind) {
      case 'bool':
        return verb === 't' || verb === 'v' ? pad(String(value.data), this.flags) : undefined;
      case 'float64':
        return formatNumber(value.data as number, verb, this.flags);
      case 'complex128':
        return formatComplex(value.data as Complex, verb, this.flags);
      case 'string':
        return formatString(value.data as string, verb, this.flags);
      default:
        return undefined;
    }
  }

  #interface({ type, data }: Value<Any>, verb: string, depth: number): void {
    if (data !== null) return this.#value(data, verb, depth + 1);
    this.write(this.flags.sharpV ? `${type.name}(nil)` : NIL);
  }

  #map({ type, data }: Value<GoMap | null>, verb: string, depth: number): void {
    const { sharpV } = this.flags;
    if (sharpV && data === null) return this.write(`${type.name}(nil)`);
    this.write(sharpV ? `${type.name}{` : 'map[');
    data?.entries().forEach(([key, entry], index) => {
      if (index > 0) this.write(sharpV ? ', ' : ' ');
      this.write(formatString(key, verb, this.flags) ?? this.#unfit(key, verb));
      this.write(':');
      this.#value({ type: elemOf(type), data: entry }, verb, depth + 1);
    });
    this.write(sharpV ? '}' : ']');
  }

  /** The text for the key of a map with a verb that is not for strings. */
  #unfit(key: string, verb: string): string {
    return `%!${encodeRune(verb.codePointAt(0) ?? 0)}(string=${formatString(key, 'v', this.flags) ?? ''})`;
  }

  #slice({ type, data }: Value<readonly unknown[] | null>, verb: string, depth: number): void {
    const { sharpV } = this.flags;
    if (sharpV && data === null) return this.write(`${type.name}(nil)`);
    this.write(sharpV ? `${type.name}{` : '[');
    data?.forEach((element, index) => {
      if (index > 0) this.write(sharpV ? ', ' : ' ');
      this.#value({ type: elemOf(type), data: element }, verb, depth + 1);
    });
    this.write(sharpV ? '}' : ']');
  }

  #pointer(value: Value, verb: string): void {
    if (['map', 'slice', 'ptr', 'func'].includes(value.type.kind))
      throw new Refusal('Berth does not print addresses in memory: %p differs in each run');
    this.#badVerb(value, verb);
  }
}

function elemOf(type: GoType): GoType {
  if (type.elem === undefined) throw new Error(`${type.name} has no elements`);
  return type.elem;
}
