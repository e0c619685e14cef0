import { parseGoDuration } from '@berth/kube/model/go-duration';
import { InputError } from '@berth/runtime/errors';
import { type Command, Option } from 'commander';
import { parseRemovalBudget, type RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import { LISTED_KIND } from '../../../core/sync/applied/applied-kinds.ts';

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

/** Names of managed clusters, separated by commas: each once, in their order. At least one. */
export function clusterNames(option: string, text: string): readonly string[] {
  return nameList(option, text, 'managed clusters');
}

/**
 * Names separated by commas: each once, in their order. At least one.
 * @param of what they name
 */
export function nameList(option: string, text: string, of: string): readonly string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  if (names.length === 0) throw wrongOption(option, `expected names of ${of}, separated by commas`);
  return names;
}

/** The two sides of `NAMESPACE/NAME`. */
export function namespaceAndName(
  option: string,
  text: string,
): { readonly namespace: string; readonly name: string } {
  const [namespace, name, ...rest] = text.split('/');
  if (namespace && name && rest.length === 0) return { namespace, name };
  throw wrongValue(option, text, 'namespace/name');
}

/** The two sides of `KEY=VALUE`. */
export function keyValue(option: string, text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw wrongValue(option, text, 'KEY=VALUE');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Of `K=V,K=V`, several times. A comma with no `KEY=` behind it belongs to the value. */
export function keyValues(option: string, texts: readonly string[] = []): Readonly<Record<string, string>> {
  const pairs = texts.flatMap((text) => text.split(/,(?=[^,=\s"{}]+=)/));
  return Object.fromEntries(pairs.map((pair) => keyValue(option, pair)));
}

/** @throws InputError for a value of `--kind` that names no kind */
export function checkListedKinds(kinds: readonly string[]): void {
  for (const kind of kinds)
    if (!LISTED_KIND.test(kind)) throw wrongValue('--kind', kind, 'GROUP/KIND, /KIND, GROUP/* or *');
}

/**
 * Rejects flags of clusteradm that Berth does not support, with the reason.
 * @param reasons by flag, without `--`
 */
export function refuseFlags(command: Command, reasons: Readonly<Record<string, string>>): Command {
  for (const [name, reason] of Object.entries(reasons)) {
    command.addOption(new Option(`--${name} [value]`).hideHelp());
    command.on(`option:${name}`, () => {
      throw wrongOption(`--${name}`, `has no meaning here: ${reason}`);
    });
  }
  return command;
}

/** The error for an invalid option; `problem` describes the value and what was expected. */
export function wrongOption(option: string, problem: string): InputError {
  return new InputError(problem, { code: 'cli.option', subject: option });
}

/** The error for an invalid value of an option. */
export function wrongValue(option: string, got: string, expected: string): InputError {
  return wrongOption(option, `got ${JSON.stringify(got)}, expected ${expected}`);
}

/**
 * Parses `HOST:PORT`, `:PORT` or `PORT`. Without a host, Berth listens on all addresses of the machine.
 *
 * @throws InputError for any other form
 */
export function listenAddress(flag: string, text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^(?:\[?([^\]]*)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) throw wrongValue(flag, text, 'HOST:PORT');
  return { host: host === undefined || host === '' ? '0.0.0.0' : host, port: Number(port) };
}
