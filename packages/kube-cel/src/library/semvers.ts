import { traverseCost } from '../value/cel-cost.ts';
import { CelFailure, CelOpaque } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/**
 * The Kubernetes semver library: Semantic Versioning 2.0; `normalize` accepts a leading v, missing
 * parts and leading zeros.
 */
export class CelSemver extends CelOpaque {
  readonly typeName = 'kubernetes.Semver';
  readonly version: Semver;

  constructor(version: Semver) {
    super();
    this.version = version;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && compareSemver(this.version, other.version) === 0;
  }
}

interface Semver {
  /** major, minor, patch */
  readonly core: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
}

const PATTERN =
  /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const LEADING_ZERO = /^0\d/;
const MAX_UINT64 = 2n ** 64n - 1n;

function readSemver(text: string, normalize = false): Semver | undefined {
  const match = PATTERN.exec(normalize ? normalized(text) : text);
  if (match === null) return undefined;
  const numbers = [match[1] ?? '', match[2] ?? '', match[3] ?? ''] as const;
  const prerelease = match[4]?.split('.') ?? [];
  const zeros = [...numbers, ...prerelease.filter((part) => /^\d+$/.test(part))];
  if (zeros.some((part) => LEADING_ZERO.test(part))) return undefined;
  const core = [BigInt(numbers[0]), BigInt(numbers[1]), BigInt(numbers[2])] as const;
  return core.some((part) => part > MAX_UINT64) ? undefined : { core, prerelease };
}

function normalized(text: string): string {
  const [, core = '', tail = ''] = /^v?([^-+]*)(.*)$/s.exec(text) ?? [];
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3 && tail === '') parts.push('0');
  return parts.join('.') + tail;
}

/** Prereleases come before the release; numeric parts compare as numbers and before words. */
function compareSemver(a: Semver, b: Semver): number {
  for (const i of [0, 1, 2] as const) if (a.core[i] !== b.core[i]) return a.core[i] < b.core[i] ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return Number(a.prerelease.length === 0) - Number(b.prerelease.length === 0);
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const order = comparePart(a.prerelease[i] ?? '', b.prerelease[i] ?? '');
    if (order !== 0) return order;
  }
  return Math.sign(a.prerelease.length - b.prerelease.length);
}

function comparePart(a: string, b: string): number {
  if (a === b) return 0;
  const numeric = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numeric[0] && numeric[1]) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  return a < b ? -1 : 1;
}

function semverOf(text: string, normalize?: boolean): CelSemver | CelFailure {
  const version = readSemver(text, normalize);
  return version === undefined
    ? new CelFailure(`${JSON.stringify(text)} is not a semantic version`)
    : new CelSemver(version);
}

const compare = (a: CelSemver, b: CelSemver): number => compareSemver(a.version, b.version);

const SEMVER = 'kubernetes.Semver';

export const SEMVERS: readonly CelOverload[] = [
  overload(`semver(string): ${SEMVER}`, semverOf, traverseCost),
  overload(`semver(string, bool): ${SEMVER}`, semverOf, traverseCost),
  overload('isSemver(string): bool', (text: string) => readSemver(text) !== undefined, traverseCost),
  overload(
    'isSemver(string, bool): bool',
    (text: string, normalize: boolean) => readSemver(text, normalize) !== undefined,
    traverseCost,
  ),
  overload(`${SEMVER}.major(): int`, (a: CelSemver) => a.version.core[0]),
  overload(`${SEMVER}.minor(): int`, (a: CelSemver) => a.version.core[1]),
  overload(`${SEMVER}.patch(): int`, (a: CelSemver) => a.version.core[2]),
  overload(`${SEMVER}.isLessThan(${SEMVER}): bool`, (a: CelSemver, b: CelSemver) => compare(a, b) < 0),
  overload(`${SEMVER}.isGreaterThan(${SEMVER}): bool`, (a: CelSemver, b: CelSemver) => compare(a, b) > 0),
  overload(`${SEMVER}.compareTo(${SEMVER}): int`, (a: CelSemver, b: CelSemver) => BigInt(compare(a, b))),
];
