import { GoError } from '../../value/go-error.ts';
import type { FuncMap } from '../../value/go-func.ts';
import { func } from '../../value/go-func.ts';
import type { GoType, Method } from '../../value/go-type.ts';
import { BOOL, INT, STRING, UINT64 } from '../../value/go-type.ts';
import { satisfies } from './constraint.ts';
import type { Version } from './version.ts';
import { compareVersions, parseVersion, versionText } from './version.ts';

type Change = Partial<Pick<Version, 'major' | 'minor' | 'patch' | 'pre' | 'metadata'>>;

/** The version after a change. It keeps the prefix v of the original. */
function changed(version: Version, change: Change): Version {
  const next = { ...version, ...change };
  return { ...next, original: `${version.original.startsWith('v') ? 'v' : ''}${versionText(next)}` };
}

const VERSION: GoType<Version | null> = {
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
  return { params: [VERSION], result, call: call };
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
  ['semver', func([STRING], VERSION, parseVersion)],
  ['semverCompare', func([STRING, STRING], BOOL, satisfies)],
]);
