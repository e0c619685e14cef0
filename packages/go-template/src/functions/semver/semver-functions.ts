import { GoError } from '../../value/go-error.ts';
import { func, type FuncMap } from '../../value/go-func.ts';
import { BOOL, type GoType, INT, type Method, STRING, UINT64 } from '../../value/go-type.ts';

const VERSION_PATTERN =
  'v?([0-9|xX*]+)(\\.[0-9|xX*]+)?(\\.[0-9|xX*]+)?(-([0-9A-Za-z\\-]+(?:\\.[0-9A-Za-z\\-]+)*))?(\\+([0-9A-Za-z\\-]+(?:\\.[0-9A-Za-z\\-]+)*))?';
const BARE_VERSION = VERSION_PATTERN.replaceAll(/\((?!\?:)/g, '(?:');
const SPACE = '[\\t\\n\\f\\r ]';
const OPERATORS = '|=|!=|>|<|>=|=>|<=|=<|~|~>|\\^';
const ONE_CONSTRAINT = new RegExp(`^${SPACE}*(${OPERATORS})${SPACE}*(${VERSION_PATTERN})${SPACE}*$`);
const RANGE = new RegExp(`${SPACE}*(${BARE_VERSION})${SPACE}+-${SPACE}+(${BARE_VERSION})${SPACE}*`, 'g');
/**
 * Finds the constraints in a text. Longer operators come first, so that the search does not stop
 * before the version.
 */
const EACH_CONSTRAINT = new RegExp(`(?:>=|=>|<=|=<|~>|!=|=|>|<|~|\\^|)${SPACE}*${BARE_VERSION}`, 'g');
const MAX_CONSTRAINT_LENGTH = 1000;

/** Segments of versions have 64 bits. */
const MAX_SEGMENT = (1n << 64n) - 1n;

const LOOSE_VERSION =
  /^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*))?(\+([0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*))?$/;

type Change = Partial<Pick<Version, 'major' | 'minor' | 'patch' | 'pre' | 'metadata'>>;

/** The version after a change. It keeps the prefix v of the original. */
function changed(version: Version, change: Change): Version {
  const next = { ...version, ...change };
  return { ...next, original: `${version.original.startsWith('v') ? 'v' : ''}${versionText(next)}` };
}

const VERSION_POINTER: GoType<Version | null> = {
  kind: 'ptr',
  name: '*semver.Version',
  text: (version: Version | null) => (version === null ? '<nil>' : versionText(version)),
  json: (version: Version) => versionText(version),
  hidden: new Set(['major', 'minor', 'patch', 'pre', 'metadata', 'original']),
  get methods(): ReadonlyMap<string, Method> {
    return METHODS;
  },
};

/** The type of the result of IncMajor and similar methods, which is not a pointer. */
const VERSION_VALUE: GoType<Version> = {
  kind: 'struct',
  name: 'semver.Version',
  text: versionText,
  json: versionText,
};

function method<R>(result: GoType<R>, call: (version: Version) => R): Method {
  return { params: [], result, call };
}

function comparison<R>(result: GoType<R>, of: (order: number) => R): Method {
  const call = (version: Version, other: Version | null): R => {
    if (other === null) throw new GoError('runtime error: invalid memory address or nil pointer dereference');
    return of(compareVersions(version, other));
  };
  return { params: [VERSION_POINTER], result, call: call };
}

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['Major', method(UINT64, ({ major }) => major)],
  ['Minor', method(UINT64, ({ minor }) => minor)],
  ['Patch', method(UINT64, ({ patch }) => patch)],
  ['Prerelease', method(STRING, ({ pre }) => pre)],
  ['Metadata', method(STRING, ({ metadata }) => metadata)],
  ['Original', method(STRING, ({ original }) => original)],
  ['String', method(STRING, versionText)],
  [
    'IncMajor',
    method(VERSION_VALUE, (v) =>
      changed(v, { major: v.major + 1n, minor: 0n, patch: 0n, pre: '', metadata: '' }),
    ),
  ],
  [
    'IncMinor',
    method(VERSION_VALUE, (v) => changed(v, { minor: v.minor + 1n, patch: 0n, pre: '', metadata: '' })),
  ],
  [
    'IncPatch',
    method(VERSION_VALUE, (v) =>
      changed(v, { patch: v.pre === '' ? v.patch + 1n : v.patch, pre: '', metadata: '' }),
    ),
  ],
  ['Compare', comparison(INT, BigInt)],
  ['Equal', comparison(BOOL, (order) => order === 0)],
  ['LessThan', comparison(BOOL, (order) => order < 0)],
  ['LessThanEqual', comparison(BOOL, (order) => order <= 0)],
  ['GreaterThan', comparison(BOOL, (order) => order > 0)],
  ['GreaterThanEqual', comparison(BOOL, (order) => order >= 0)],
]);

/** sprig's functions for versions (semver.go). */
export const SEMVER_FUNCTIONS: FuncMap = new Map([
  ['semver', func([STRING], VERSION_POINTER, parseVersion)],
  ['semverCompare', func([STRING, STRING], BOOL, satisfies)],
]);

/** A version of Masterminds/semver. */
interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly pre: string;
  readonly metadata: string;
  readonly original: string;
}

/**
 * semver.NewVersion.
 * @throws GoError
 */
function parseVersion(text: string): Version {
  const parts = LOOSE_VERSION.exec(text);
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

function versionText({ major, minor, patch, pre, metadata }: Version): string {
  return `${major}.${minor}.${patch}${pre === '' ? '' : `-${pre}`}${metadata === '' ? '' : `+${metadata}`}`;
}

function compareVersions(left: Version, right: Version): number {
  for (const part of ['major', 'minor', 'patch'] as const)
    if (left[part] !== right[part]) return left[part] < right[part] ? -1 : 1;
  if (left.pre === '' || right.pre === '') return left.pre === right.pre ? 0 : left.pre === '' ? 1 : -1;
  return comparePrereleases(left.pre, right.pre);
}

function comparePrereleases(left: string, right: string): number {
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

/** Constraints of Masterminds/semver (constraints.go), such as `>= 1.2, < 3 || ~4.5`. */
interface Constraint {
  readonly operator: string;
  readonly version: Version;
  /** Whether parts of the version are missing or written as x. */
  readonly dirty: boolean;
  readonly minorDirty: boolean;
  readonly patchDirty: boolean;
}

/**
 * Whether a version satisfies a constraint (semverCompare).
 * @throws GoError
 */
function satisfies(constraint: string, version: string): boolean {
  if (constraint.length > MAX_CONSTRAINT_LENGTH) throw new GoError(`improper constraint: ${constraint}`);
  const rewritten = constraint.replaceAll(RANGE, (_, from: string, to: string) => `>= ${from}, <= ${to} `);
  const alternatives = rewritten.split('||').map(parseAll);
  const checked = parseVersion(version);
  return alternatives.some((all) => {
    const includesPre = all.some((one) => one.version.pre !== '');
    return all.every((one) => check(one, checked, includesPre));
  });
}

/** Constraints separated by spaces or commas. All of them must hold. */
function parseAll(text: string): readonly Constraint[] {
  const found = text.match(EACH_CONSTRAINT) ?? [];
  // Only spaces and commas may remain between the constraints.
  let at = 0;
  found.forEach((one, index) => {
    const start = text.indexOf(one, at);
    const gap = text.slice(at, start);
    const fits = index === 0 ? /^[\t\n\f\r ]*$/.test(gap) : /^[\t\n\f\r ]*,?[\t\n\f\r ]*$/.test(gap);
    const hasGap = index === 0 || gap !== '' || /^[^\w]/.test(one) === false;
    if (!fits || (index > 0 && gap === '')) throw new GoError(`improper constraint: ${text}`);
    if (!hasGap) throw new GoError(`improper constraint: ${text}`);
    at = start + one.length;
  });
  if (found.length === 0 || !/^[\t\n\f\r ]*$/.test(text.slice(at)))
    throw new GoError(`improper constraint: ${text}`);
  return found.map(parseOne);
}

function isX(part: string): boolean {
  return part === 'x' || part === 'X' || part === '*';
}

function parseOne(text: string): Constraint {
  const parts = ONE_CONSTRAINT.exec(text);
  if (parts === null) throw new GoError(`improper constraint: ${text}`);
  const [, operator = '', whole = '', major = '', minor = '', patch = '', pre = ''] = parts;
  const none = { dirty: true, minorDirty: false, patchDirty: false };
  if (isX(major)) return { operator, version: parsed(`0.0.0${pre}`), ...none };
  if (minor === '' || isX(minor.slice(1)))
    return { operator, version: parsed(`${major}.0.0${pre}`), ...none, minorDirty: true };
  if (patch === '' || isX(patch.slice(1)))
    return { operator, version: parsed(`${major}${minor}.0${pre}`), ...none, patchDirty: true };
  return { operator, version: parsed(whole), dirty: false, minorDirty: false, patchDirty: false };
}

function parsed(text: string): Version {
  try {
    return parseVersion(text);
  } catch {
    throw new GoError('constraint parser error');
  }
}

function check(constraint: Constraint, version: Version, includesPre: boolean): boolean {
  if (version.pre !== '' && !includesPre) return false;
  const order = compareVersions(version, constraint.version);
  switch (constraint.operator) {
    case '':
    case '=':
      return constraint.dirty ? isTilde(constraint, version, order) : order === 0;
    case '!=':
      return isNot(constraint, version, order);
    case '>':
      return isGreater(constraint, version, order);
    case '<':
      return order < 0;
    case '>=':
    case '=>':
      return order >= 0;
    case '<=':
    case '=<':
      return isLessOrEqual(constraint, version, order);
    case '^':
      return isCaret(constraint, version, order);
    default:
      return isTilde(constraint, version, order);
  }
}

function isNot(constraint: Constraint, version: Version, order: number): boolean {
  const { version: wanted, dirty, minorDirty, patchDirty } = constraint;
  if (dirty) {
    if (wanted.major !== version.major) return true;
    if (minorDirty) return false;
    if (wanted.minor !== version.minor) return true;
    if (!patchDirty && wanted.patch !== version.patch) return true;
    if (patchDirty)
      return (version.pre !== '' || wanted.pre !== '') && comparePrereleases(version.pre, wanted.pre) !== 0;
  }
  return order !== 0;
}

function isGreater(
  { version: wanted, dirty, minorDirty, patchDirty }: Constraint,
  version: Version,
  order: number,
): boolean {
  if (!dirty) return order > 0;
  if (version.major !== wanted.major) return version.major > wanted.major;
  if (minorDirty) return false;
  return patchDirty ? version.minor > wanted.minor : order > 0;
}

function isLessOrEqual(
  { version: wanted, dirty, minorDirty }: Constraint,
  version: Version,
  order: number,
): boolean {
  if (!dirty) return order <= 0;
  if (version.major > wanted.major) return false;
  return !(version.major === wanted.major && version.minor > wanted.minor && !minorDirty);
}

function isTilde(
  { version: wanted, minorDirty, patchDirty }: Constraint,
  version: Version,
  order: number,
): boolean {
  if (order < 0) return false;
  const isZero = wanted.major === 0n && wanted.minor === 0n && wanted.patch === 0n;
  if (isZero && !minorDirty && !patchDirty) return true;
  return version.major === wanted.major && (version.minor === wanted.minor || minorDirty);
}

function isCaret(
  { version: wanted, minorDirty, patchDirty }: Constraint,
  version: Version,
  order: number,
): boolean {
  if (order < 0 || version.major !== wanted.major) return false;
  if (wanted.major > 0n || minorDirty) return true;
  if (version.minor !== wanted.minor) return false;
  return wanted.minor > 0n || patchDirty || version.patch === wanted.patch;
}
