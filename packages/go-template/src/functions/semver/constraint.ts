import { GoError } from '../../value/go-error.ts';
import type { Version } from './version.ts';
import { comparePrereleases, compareVersions, parseVersion } from './version.ts';

/** Constraints of Masterminds/semver (constraints.go), such as `>= 1.2, < 3 || ~4.5`. */
interface Constraint {
  readonly operator: string;
  readonly version: Version;
  /** Whether parts of the version are missing or written as x. */
  readonly dirty: boolean;
  readonly minorDirty: boolean;
  readonly patchDirty: boolean;
}

const VERSION =
  'v?([0-9|xX*]+)(\\.[0-9|xX*]+)?(\\.[0-9|xX*]+)?(-([0-9A-Za-z\\-]+(?:\\.[0-9A-Za-z\\-]+)*))?(\\+([0-9A-Za-z\\-]+(?:\\.[0-9A-Za-z\\-]+)*))?';
const BARE = VERSION.replaceAll(/\((?!\?:)/g, '(?:');
const SPACE = '[\\t\\n\\f\\r ]';
const OPERATORS = '|=|!=|>|<|>=|=>|<=|=<|~|~>|\\^';
const ONE = new RegExp(`^${SPACE}*(${OPERATORS})${SPACE}*(${VERSION})${SPACE}*$`);
const RANGE = new RegExp(`${SPACE}*(${BARE})${SPACE}+-${SPACE}+(${BARE})${SPACE}*`, 'g');
/**
 * Finds the constraints in a text. Longer operators come first, so that the search does not stop
 * before the version.
 */
const EACH = new RegExp(`(?:>=|=>|<=|=<|~>|!=|=|>|<|~|\\^|)${SPACE}*${BARE}`, 'g');
const LONGEST = 1000;

/**
 * Whether a version satisfies a constraint (semverCompare).
 * @throws GoError
 */
export function satisfies(constraint: string, version: string): boolean {
  if (constraint.length > LONGEST) throw new GoError(`improper constraint: ${constraint}`);
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
  const found = text.match(EACH) ?? [];
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
  const parts = ONE.exec(text);
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
