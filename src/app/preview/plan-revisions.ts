import { GitProgramRepository } from '../../adapters/git/git-program-repository.ts';
import type { Problem } from '../../core/model/problem.ts';
import { InputError } from '../../core/errors.ts';
import { parseRfc3339 } from '../../core/model/rfc3339.ts';
import type { Plan } from '../../core/preview/plan.ts';
import { checkFleet } from '../fleet/check-fleet.ts';
import { FleetReader } from '../fleet/fleet-reader.ts';
import { locateGitDir } from './locate-git-dir.ts';
import { planFleets } from './plan-fleets.ts';

export interface PlanRevisionsInput {
  readonly folder: string;
  readonly base: string;
  readonly head: string;
  readonly paths: readonly string[];
  readonly now?: string | undefined;
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

/**
 * Plans what merging `head` into `base` changes. When `base` has moved on since `head` branched off, both are compared from
 * their common ancestor, as a pull request shows them, and the plan says so. `problems` are those that the
 * base does not have.
 */
export async function planRevisions(
  input: PlanRevisionsInput,
): Promise<{ readonly plan: Plan; readonly problems: readonly Problem[] }> {
  if (input.now !== undefined && parseRfc3339(input.now) === undefined)
    throw new InputError(`got ${JSON.stringify(input.now)}, expected a time such as 2026-01-31T12:00:00Z`, {
      code: 'cli.option',
      subject: '--now',
    });
  const repository = new GitProgramRepository({
    gitDir: await locateGitDir(input.folder),
    ambient: input.ambient,
  });
  try {
    const [base, head] = [
      await repository.resolveRevision(input.base),
      await repository.resolveRevision(input.head),
    ];
    const from = (await repository.mergeBase(base, head)) ?? base;
    // What the controller would see: a broken file keeps its last good objects.
    const reader = new FleetReader(repository, {
      paths: input.paths,
      keepLastGood: true,
      ambient: input.ambient,
    });
    const baseFleet = await reader.read(from);
    const headFleet = await reader.read(head);
    const plan = planFleets({
      base: { fleet: baseFleet, end: { name: input.base, commit: from } },
      head: { fleet: headFleet, end: { name: input.head, commit: head } },
      now: input.now,
    });
    const notes = [
      ...(from === base
        ? []
        : [
            `${input.base} has moved on since ${input.head} branched off; the plan starts at their common ancestor ${from.slice(0, 12)}.`,
          ]),
      ...(headFleet.complete
        ? []
        : ['Some files of the head cannot be read: the last good version of their objects counts.']),
    ];
    return {
      plan: { ...plan, notEvaluated: [...notes, ...plan.notEvaluated] },
      problems: newProblems(await checkFleet(baseFleet), await checkFleet(headFleet)),
    };
  } finally {
    await repository.close();
  }
}

/** A change answers for the problems it brings, not for those it found. */
function newProblems(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const keyOf = ({ code, message, object, location }: Problem): string =>
    JSON.stringify([code, message, object, location?.file]);
  const known = new Set(before.map(keyOf));
  return after.filter((problem) => !known.has(keyOf(problem)));
}
