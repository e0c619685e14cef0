import type { Problem } from '@berth/runtime/problem/problem';
import type { SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';
import { checkAppliedKinds } from '../../core/sources/check-applied-kinds.ts';
import { SourceChecker } from '../../core/sources/source-checker.ts';
import { checkContent } from '../sources/manifests/check-content.ts';
import { STAYS } from '../sources/reading/judge-commit.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import type { ReadFleets } from './judge-sources.ts';
import type { PlanMemory } from './plan-memory.ts';

/** The problems of the head that the base does not have. An object that both have is checked once. */
export async function findAddedProblems(
  bases: ReadFleets,
  heads: ReadFleets,
  memory: Pick<PlanMemory, 'checkerOf'> = {},
): Promise<readonly Problem[]> {
  const checkers = heads.map(({ name }) => memory.checkerOf?.(name) ?? new SourceChecker());
  return newProblems(await problemsOf(bases, checkers), await problemsOf(heads, checkers));
}

async function problemsOf(
  fleets: readonly (SourceContent & SourceDeclaration)[],
  checkers: readonly SourceChecker[],
): Promise<readonly Problem[]> {
  return (
    await Promise.all(
      fleets.map((content, at) =>
        checkContent(content, checkers[at], (objects) => checkAppliedKinds(objects, content.kinds)),
      ),
    )
  ).flat();
}

/** The problems of `after` that `before` does not have. One that moved within its file is not new. */
function newProblems(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const keyOf = ({ code, message, object, location }: Problem): string =>
    JSON.stringify([code, message, object, location?.file]);
  const known = new Set(before.map(keyOf));
  // The plan itself says which objects stay.
  return after.filter((problem) => problem.code !== STAYS && !known.has(keyOf(problem)));
}
