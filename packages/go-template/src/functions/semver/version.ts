import { GoError } from '../../value/go-error.ts';
import { MAX_SEGMENT } from './segment.ts';

/** A version of Masterminds/semver. */
export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly pre: string;
  readonly metadata: string;
  readonly original: string;
}

const LOOSE =
  /^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*))?(\+([0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*))?$/;

/**
 * semver.NewVersion.
 * @throws GoError
 */
export function parseVersion(text: string): Version {
  const parts = LOOSE.exec(text);
  if (parts === null || text.endsWith('\n')) throw new GoError('invalid semantic version');
  const [, major = '', minor = '', patch = '', , pre = '', , , metadata = ''] = parts;
  if (pre.split('.').some((part) => /^0[0-9]+$/.test(part)) && pre !== '')
    throw new GoError('version segment starts with 0');
  return {
    major: segment(major),
    minor: segment(minor.slice(1)),
    patch: segment(patch.slice(1)),
    pre,
    metadata,
    original: text,
  };
}

function segment(digits: string): bigint {
  const value = BigInt(digits === '' ? '0' : digits);
  if (value > MAX_SEGMENT)
    throw new GoError(
      `error parsing version segment: strconv.ParseUint: parsing "${digits}": value out of range`,
    );
  return value;
}

export function versionText({ major, minor, patch, pre, metadata }: Version): string {
  return `${major}.${minor}.${patch}${pre === '' ? '' : `-${pre}`}${metadata === '' ? '' : `+${metadata}`}`;
}

export function compareVersions(left: Version, right: Version): number {
  for (const part of ['major', 'minor', 'patch'] as const)
    if (left[part] !== right[part]) return left[part] < right[part] ? -1 : 1;
  if (left.pre === '' || right.pre === '') return left.pre === right.pre ? 0 : left.pre === '' ? 1 : -1;
  return comparePrereleases(left.pre, right.pre);
}

export function comparePrereleases(left: string, right: string): number {
  const [lefts, rights] = [left.split('.'), right.split('.')];
  for (let at = 0; at < Math.max(lefts.length, rights.length); at++) {
    const order = comparePart(lefts[at] ?? '', rights[at] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares two parts. Numbers come before texts, and a missing part comes first. */
function comparePart(left: string, right: string): number {
  if (left === right) return 0;
  if (left === '') return -1;
  if (right === '') return 1;
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a === undefined && b === undefined) return left > right ? 1 : -1;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return a > b ? 1 : -1;
}

function asNumber(part: string): bigint | undefined {
  if (!/^[0-9]+$/.test(part)) return undefined;
  const value = BigInt(part);
  return value > MAX_SEGMENT ? undefined : value;
}
