import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ExcerptLine, Problem } from '@berth/runtime/problem/problem';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import { sha256 } from '@berth/runtime/sha256';
import type { SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';
import { checkAppliedKinds } from '../../core/sources/check-applied-kinds.ts';
import { SourceChecker } from '../../core/sources/check-sources.ts';
import { excerptOf } from '../../core/sources/describe-problem.ts';
import { objectsOfSnapshot } from '../../core/sources/snapshot-of-objects.ts';
import type { SourceFinding } from '../../core/sources/source-finding.ts';
import type { ReferredObject } from '../../core/sources/source-references.ts';
import { APPLY_SET_PART_OF_LABEL, applySetId, parentOfSource } from '../../core/sync/apply-set.ts';
import { possibleIdentities } from '../../core/sync/plan-prune.ts';
import { checkContents } from '../sources/manifests/check-content.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { STAYS } from '../sources/reading/judge-commit.ts';
import type { PlanMemory } from './compared-commits.ts';
import { type HeldSides, REFUSED } from './held/held-sides.ts';
import type { ReadFleets } from './judge-deletions.ts';

/** What the objects of a plan may refer to besides each other. */
interface Surroundings {
  readonly hub?: Snapshot | undefined;
  /** What sources declare that are not in the clone. */
  readonly others?: readonly SourceDeclaration[] | undefined;
  readonly memory?: Pick<PlanMemory, 'checker'> | undefined;
}

/**
 * The problems of the head that the base does not have. An object that both have is checked once.
 * @param findings what the hub refuses or leaves
 */
export async function findAddedProblems(
  [bases, heads]: readonly [ReadFleets, ReadFleets],
  findings: HeldSides['findings'],
  { hub, others = [], memory }: Surroundings = {},
): Promise<readonly Problem[]> {
  const sets = new Set(heads.map(({ name }) => applySetId(sha256, parentOfSource(name))));
  // Objects of these sources count as far as Git declares them.
  const isOutside = ({ labels }: ObjectMeta): boolean => !sets.has(labels?.[APPLY_SET_PART_OF_LABEL] ?? '');
  const elsewhere = (): readonly ReferredObject[] => [
    ...others.flatMap(({ objects }) => objects.map(({ object }) => object)),
    ...(hub === undefined ? [] : objectsOfSnapshot(hub, isOutside)),
  ];
  const check = { checker: memory?.checker ?? new SourceChecker(), elsewhere };
  const added = newProblems(
    await problemsOf(bases, check, findings.base),
    await problemsOf(heads, check, findings.head),
  );
  return withExcerpts(added, heads);
}

/** Lines are read for so many problems; nobody reads more of them in a comment. */
const MAX_EXCERPTS = 50;

/** Adds the lines that the problems are about, errors first, because the readers of a plan do not have the files. */
async function withExcerpts(
  problems: readonly Problem[],
  heads: readonly SourceContent[],
): Promise<readonly Problem[]> {
  const isError = ({ severity }: Problem): boolean => severity === 'error';
  const sorted = [...problems.filter(isError), ...problems.filter((one) => !isError(one))];
  const shown = new Set(sorted.slice(0, MAX_EXCERPTS));
  return Promise.all(
    problems.map(async (problem) => {
      const { location } = problem;
      if (location === undefined || !shown.has(problem)) return problem;
      const excerpt = await excerptAt(location, heads);
      return excerpt.length === 0 ? problem : { ...problem, excerpt };
    }),
  );
}

async function excerptAt(
  location: SourceLocation,
  heads: readonly SourceContent[],
): Promise<readonly ExcerptLine[]> {
  for (const { textOf } of heads) {
    const text = await textOf(location.file, location.commit);
    if (text !== undefined) return excerptOf(text, location);
  }
  return [];
}

async function problemsOf(
  fleets: readonly (SourceContent & SourceDeclaration)[],
  check: { readonly checker: SourceChecker; readonly elsewhere: () => readonly ReferredObject[] },
  findings: readonly SourceFinding[],
): Promise<readonly Problem[]> {
  const sources = fleets.map((content) => ({
    content,
    checkMore: (objects: SourceContent['objects']) => [
      ...checkAppliedKinds(objects, content.kinds),
      ...findingsIn(objects, findings),
    ],
  }));
  return withoutRepeated((await checkContents(sources, check.checker, check.elsewhere)).flat());
}

/** The findings about these objects, with the objects as they are in their own commit. */
function findingsIn(
  objects: readonly SourceObject[],
  findings: readonly SourceFinding[],
): readonly SourceFinding[] {
  if (findings.length === 0) return [];
  const found = new Set(findings.map(({ source }) => identityOf(source.object)));
  const places = new Map(
    objects.map((one) => [identityOf(one.object), one] as const).filter(([place]) => found.has(place)),
  );
  return findings.flatMap((finding) => {
    const source = places.get(identityOf(finding.source.object));
    return source === undefined ? [] : [{ ...finding, source }];
  });
}

/** What the hub says of a whole object repeats an error that names the field. */
function withoutRepeated(problems: readonly Problem[]): readonly Problem[] {
  const isWhole = ({ code, message }: Problem): boolean => code === REFUSED && message.startsWith('the hub');
  const named = new Set(
    problems.flatMap((one) => (one.severity === 'error' && !isWhole(one) ? (one.object ?? []) : [])),
  );
  return problems.filter((one) => !isWhole(one) || one.object === undefined || !named.has(one.object));
}

/** The problems of `after` that `before` does not have. One that moved within its file is not new. */
function newProblems(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const keyOf = ({ code, message, object, location }: Problem): string =>
    JSON.stringify([code, message, object, location?.file]);
  const known = new Set(before.map(keyOf));
  // The plan itself says which objects stay.
  return after.filter((problem) => problem.code !== STAYS && !known.has(keyOf(problem)));
}

/** Whether an object of these commits has an error that the hub decides about. */
export function doubtsOf(fleets: ReadFleets): (source: SourceObject) => boolean {
  const doubtful = fleets.flatMap(({ problems, objects }) => {
    const names = new Set(problems.flatMap((one) => (one.isObjectUsed ? (one.object ?? []) : [])));
    return names.size === 0 ? [] : objects.filter(({ object }) => names.has(formatRef(refOf(object))));
  });
  const objects = new Set(doubtful.map(({ object }) => object));
  return ({ object }) => objects.has(object);
}

/** The objects that the merge removes from Git, and whose deletion the hub refuses. */
export function refusedDeletions(
  refused: ReadonlyMap<KubeObject, string>,
  bases: ReadFleets,
): readonly Problem[] {
  if (refused.size === 0) return [];
  const declared = new Set(
    bases.flatMap(({ objects }) => objects.flatMap(({ object }) => possibleIdentities(object))),
  );
  return [...refused].flatMap(([object, because]): readonly Problem[] =>
    possibleIdentities(object).some((id) => declared.has(id))
      ? [
          {
            severity: 'error',
            code: REFUSED,
            object: formatRef(refOf(object)),
            message: `left Git and stays, because the hub refuses its deletion: ${because}`,
          },
        ]
      : [],
  );
}
