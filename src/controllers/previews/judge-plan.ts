import type { GitRepository } from '@berth/git-reader/repository/git-repository';
import { InputError } from '@berth/runtime/errors';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { Problem } from '@berth/runtime/problem/problem';
import { sha256 } from '@berth/runtime/sha256';
import type { PlanDigest, RulesVerdict } from '../../core/preview/plan-verdict.ts';
import type { Plan } from '../../core/preview/plan.ts';
import { assessPlan } from '../../core/preview/risk/assess-plan.ts';
import { judgeRules } from '../../core/preview/rules/judge-rules.ts';
import { type PlanRule, RULES_FILE } from '../../core/preview/rules/plan-rule.ts';
import { snapshotDigests } from '../../core/preview/sides/snapshot-digests.ts';
import { errorProblem } from '../../core/sources/describe-problem.ts';
import type { PlannedContents } from './plan-contents.ts';

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
 * Adds to a plan its findings, the verdicts of the guard rules, and its digest.
 * @throws InputError when the rules of the base cannot be read
 */
export async function judgePlan(
  { plan, before, after }: PlannedContents,
  compared: ComparedRules,
  { argocdClusters, engine }: JudgeOptions,
): Promise<JudgedPlan> {
  const findings = assessPlan({ plan, base: before, head: after, argocdClusters });
  const assessed = { ...plan, findings, token: digestOf(plan, before, compared, engine) };
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

function digestOf(
  { whatIf }: Plan,
  before: PlannedContents['before'],
  compared: ComparedRules,
  engine: string,
): PlanDigest {
  const digests = snapshotDigests(before.snapshot, sha256);
  const parts = { base: compared.before, head: compared.head, ...digests, engine };
  return { token: sha256(canonicalJson([parts, whatIf])).slice(0, 12), ...parts };
}

/** The guard rules of one commit, and the id of their file. */
interface CommittedRules {
  readonly blob: string;
  readonly rules: readonly PlanRule[];
}

const MAX_BYTES = 1_000_000;

/**
 * Reads the guard rules of a commit.
 * @param commit full id
 * @returns undefined if the commit has none
 * @throws InputError when they cannot be read: Berth judges nothing without them
 */
async function readRules(
  repository: Pick<GitRepository, 'listTree' | 'readBlobs'>,
  commit: string,
): Promise<CommittedRules | undefined> {
  const entry = (await repository.listTree(commit)).find(({ path }) => path === RULES_FILE);
  if (entry === undefined) return undefined;
  const fail = (problem: string): InputError =>
    new InputError(problem, {
      code: 'rules.file',
      subject: 'Rules',
      location: { file: RULES_FILE, line: 1, column: 1, commit },
    });
  if (!entry.mode.startsWith('100')) throw fail('expected a regular file, not a link or a submodule');
  let bytes: Uint8Array | undefined;
  await repository.readBlobs([entry.id], { maxBytes: MAX_BYTES }, (blob) => {
    bytes = blob.state === 'read' ? blob.bytes : undefined;
  });
  if (bytes === undefined) throw fail(`cannot be read, expected at most ${MAX_BYTES} bytes`);
  const text = new TextDecoder().decode(bytes);
  // Most repositories have no rules, and their parser takes a tenth of a second to load.
  const { parseRules } = await import('./rules/parse-rules.ts');
  return { blob: entry.id, rules: parseRules({ file: RULES_FILE, text, commit }) };
}
