import { parseGoDuration } from '@berth/kube/model/go-duration';
import { parseRemovalBudget, type RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import { wrongValue } from './wrong-option.ts';

/** Parsers of option values. Each throws an InputError for an invalid value. */

export function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((value) => value === text);
  if (found !== undefined) return found;
  throw wrongValue(option, text, [known.slice(0, -1).join(', '), ...known.slice(-1)].join(' or '));
}

/** Returns milliseconds. */
export function positiveDuration(option: string, text: string): number {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw wrongValue(option, text, 'a positive duration such as 10s, 5m or 1h30m');
}

/** Returns milliseconds. */
export function durationOrNone(option: string, text: string): number {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms >= 0) return ms;
  throw wrongValue(option, text, 'a duration such as 10s, 5m or 1h30m, or 0');
}

/** Returns milliseconds. A number without a unit is in seconds. */
export function durationOrSeconds(option: string, text: string): number {
  return positiveDuration(option, /^\d+$/.test(text) ? `${text}s` : text);
}

export function removalBudget(option: string, text: string): RemovalBudget {
  const budget = parseRemovalBudget(text);
  if (budget !== undefined) return budget;
  throw wrongValue(option, text, 'a number or a percentage');
}

/** A whole number in decimal digits, from `min` to `max`. */
export function wholeNumber(option: string, text: string, min: number, max?: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value) && value >= min && value <= (max ?? value)) return value;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw wrongValue(option, text, `a whole number ${range}`);
}
