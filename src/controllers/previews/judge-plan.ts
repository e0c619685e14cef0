import type { GitRepository } from '@berth/git-reader/repository/git-repository';
import { InputError } from '@berth/runtime/errors';
import { errorProblem } from '../../core/sources/error-problem.ts';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { Problem } from '@berth/runtime/problem/problem';
import type { Plan } from '../../core/preview/plan.ts';
import type { PlanToken, RulesVerdict } from '../../core/preview/plan-verdict.ts';
import { assessPlan } from '../../core/preview/risk/assess-plan.ts';
import { judgeRules } from '../../core/preview/rules/judge-rules.ts';
import { snapshotDigests } from '../../core/preview/sides/snapshot-digests.ts';
import { sha256 } from '@berth/runtime/sha256';
import type { PlannedContents } from './plan-contents.ts';
import { type CommittedRules, readRules } from './rules/read-rules.ts';

interface ComparedRules {
  readonly repository: Pick<GitRepository, 'listTree' | 'readBlobs'>;
  /** Full ids of the commits before and after the change. */
  readonly before: string;
  readonly after: string;
  /** Full id of the head in Git. */
  readonly head: string;
}

interface JudgeOptions {
  readonly argocdClusters?: ReadonlySet<string> | undefined;
  /** Version of Berth. */
  readonly engine: string;
}

interface JudgedPlan {
  readonly plan: Plan;
  /** What is wrong with the rules in the head. */
  readonly problems: readonly Problem[];
}

/**
 * Adds to a plan its findings, the verdicts of the guard rules, and its token.
 * @throws InputError when the rules of the base cannot be read
 */
export async function judgePlan(
  { plan, before, after }: PlannedContents,
  compared: ComparedRules,
  { argocdClusters, engine }: JudgeOptions,
): Promise<JudgedPlan> {
  const findings = assessPlan({ plan, base: before, head: after, argocdClusters });
  // A deletion that is due without the merge is no change of its own, and must not go unnoticed.
  const hasChanges = plan.hasChanges || findings.some(({ code }) => code === 'cluster-unregistered');
  const assessed = { ...plan, hasChanges, findings, token: tokenOf(plan, before, compared, engine) };
  const rules = await rulesOf(compared);
  const judged = { plan: assessed, base: before, head: after };
  const verdict: RulesVerdict | undefined =
    rules.base === undefined && rules.head === undefined
      ? undefined
      : {
          changed: rules.changed,
          base: judgeRules(rules.base?.rules ?? [], judged),
          head: rules.changed ? judgeRules(rules.head?.rules ?? [], judged) : [],
        };
  return { plan: { ...assessed, rules: verdict }, problems: rules.problems };
}

interface BothRules {
  readonly base: CommittedRules | undefined;
  readonly head: CommittedRules | undefined;
  readonly changed: boolean;
  readonly problems: readonly Problem[];
}

async function rulesOf({ repository, before, after }: ComparedRules): Promise<BothRules> {
  const base = await readRules(repository, before);
  try {
    const head = before === after ? base : await readRules(repository, after);
    return { base, head, changed: base?.blob !== head?.blob, problems: [] };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { base, head: undefined, changed: true, problems: [errorProblem(error)] };
  }
}

function tokenOf(
  { whatIf }: Plan,
  before: PlannedContents['before'],
  compared: ComparedRules,
  engine: string,
): PlanToken {
  const digests = snapshotDigests(before.snapshot, sha256);
  const parts = { base: compared.before, head: compared.head, ...digests, engine };
  return { token: sha256(canonicalJson([parts, whatIf])).slice(0, 12), ...parts };
}
