import { quote } from '../../text/quote.ts';
import { GoError } from '../../value/go-error.ts';

/** Nanoseconds of each unit of a Go duration. */
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\xc2\xb5s': 1000n,
  '\xce\xbcs': 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const LONGEST = (1n << 63n) - 1n;

/**
 * time.ParseDuration, in nanoseconds.
 * @throws GoError with Go's text
 */
export function parseDuration(text: string): bigint {
  const invalid = (): never => {
    throw new GoError(`time: invalid duration ${quote(text)}`);
  };
  const isNegative = text.startsWith('-');
  let rest = text.replace(/^[-+]/, '');
  if (rest === '0') return 0n;
  if (rest === '') invalid();
  let total = 0n;
  while (rest !== '') {
    const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?/.exec(rest) ?? [];
    const number = /^(\d*\.\d+|\d+\.?\d*)/.exec(rest)?.[0];
    if (number === undefined) return invalid();
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? '';
    if (unit === '') throw new GoError(`time: missing unit in duration ${quote(text)}`);
    const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (size === undefined) throw new GoError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    rest = rest.slice(unit.length);
    const digits = fraction.slice(0, 18);
    total += BigInt(whole === '' ? '0' : whole) * size;
    if (digits !== '') total += (BigInt(digits) * size) / 10n ** BigInt(digits.length);
    if (total > LONGEST + 1n) invalid();
  }
  if (!isNegative && total > LONGEST) invalid();
  return isNegative ? -total : total;
}

/** time.Duration's String: 1h15m30.918s. */
export function durationText(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000_000_000n) return sign + small(size);
  const seconds = size / 1_000_000_000n;
  const [hours, minutes] = [seconds / 3600n, (seconds / 60n) % 60n];
  let text = `${decimal(size % 60_000_000_000n, 9)}s`;
  if (seconds >= 60n) text = `${minutes}m${text}`;
  return sign + (hours > 0n ? `${hours}h${text}` : text);
}

function small(size: bigint): string {
  if (size < 1000n) return `${size}ns`;
  return size < 1_000_000n ? `${decimal(size, 3)}\xc2\xb5s` : `${decimal(size, 6)}ms`;
}

/** A whole number with its last `places` digits after a decimal point, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}

/** sprig's durationRound: only the largest unit. */
export function roundedDuration(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const hour = 3_600_000_000_000n;
  const units: readonly (readonly [string, bigint])[] = [
    ['y', hour * 24n * 365n],
    ['mo', hour * 24n * 30n],
    ['d', hour * 24n],
    ['h', hour],
    ['m', hour / 60n],
    ['s', hour / 3600n],
  ];
  const unit = units.find(([, length]) => size > length);
  return unit === undefined ? '0s' : `${size / unit[1]}${unit[0]}`;
}
