import type { Complex } from '../value/go-type.ts';
import { checkText } from '../value/work.ts';
import type { Flags } from './flags.ts';
import { pad } from './flags.ts';
import { formatFloat } from './format-float.ts';

const VERBS: ReadonlyMap<string, readonly [verb: string, precision: number]> = new Map([
  ['v', ['g', -1]],
  ['b', ['b', -1]],
  ['g', ['g', -1]],
  ['G', ['G', -1]],
  ['x', ['x', -1]],
  ['X', ['X', -1]],
  ['f', ['f', 6]],
  ['e', ['e', 6]],
  ['E', ['E', 6]],
  ['F', ['f', 6]],
]);

/** A float64 formatted with a verb; undefined if the verb is not for floats. */
export function formatNumber(value: number, verb: string, flags: Flags): string | undefined {
  const known = VERBS.get(verb);
  if (known === undefined) return undefined;
  const [letter, usual] = known;
  const precision = flags.precision ?? usual;
  checkText(precision);
  const text = formatFloat(value, letter, precision);
  let sign = /^[-+]/.exec(text)?.[0] ?? '+';
  let number = text.replace(/^[-+]/, '');
  if (flags.space && sign === '+' && !flags.plus) sign = ' ';
  if (/^[IN]/.test(number)) {
    const bare = number.startsWith('N') && !flags.space && !flags.plus;
    const shown = bare || (sign === '+' && !flags.plus) ? number : sign + number;
    return pad(number.startsWith('I') ? sign + number : shown, flags, false);
  }
  if (flags.sharp && letter !== 'b') number = withPoint(number, letter, precision);
  if (!flags.plus && sign === '+') return pad(number, flags);
  const missing = (flags.width ?? 0) - number.length - 1;
  if (flags.zero && !flags.minus && missing > 0) return sign + '0'.repeat(missing) + number;
  return pad(sign + number, flags);
}

/** Applies the sharp flag: the number always has a decimal point and keeps trailing zeros. */
function withPoint(number: string, verb: string, precision: number): string {
  const hexadecimal = verb === 'x' || verb === 'X';
  const [, head = '', tail = ''] = (hexadecimal ? /^([^pP]*)(.*)$/ : /^([^eE]*)(.*)$/).exec(number) ?? [];
  let missing = ['g', 'G', 'x'].includes(verb) ? (precision === -1 ? 6 : precision) : 0;
  // The first nonzero character begins the digits that count; of a hexadecimal number that is its x.
  missing -= head.replace('.', '').replace(/^0+/, '').length;
  let whole = head;
  if (!head.includes('.')) {
    if (head === '0') missing--;
    whole += '.';
  }
  return whole + '0'.repeat(Math.max(missing, 0)) + tail;
}

export function formatComplex({ re, im }: Complex, verb: string, flags: Flags): string | undefined {
  const real = formatNumber(re, verb, flags);
  const imaginary = formatNumber(im, verb, { ...flags, plus: true });
  return real === undefined || imaginary === undefined ? undefined : `(${real}${imaginary}i)`;
}
