import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorText, InputError } from '@berth/runtime/errors';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { CaseOutcome } from '../../core/placement-test/run-placement-test.ts';
import { judgeRules } from '../../core/preview/rules/judge-rules.ts';
import { type PlanRule, RULES_FILE } from '../../core/preview/rules/plan-rule.ts';
import { checkRuleExpectation } from '../../core/preview/rules/check-rule-expectation.ts';
import type { RuleTest, RuleTestCase } from '../../core/preview/rules/rule-test.ts';
import { assessPlan } from '../../core/preview/risk/assess-plan.ts';
import { parseWhatIf, type WhatIfFlag } from '../../core/preview/what-if/parse-what-if.ts';
import type { WhatIf } from '../../core/preview/what-if/apply-what-if.ts';
import { assumedSetNotes } from '../../core/registration/sets/assumed-sets.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import { appliedObjects } from '../../core/sync/applied/applied-kinds.ts';
import type { ApplicationContext } from '../previews/plan-applications.ts';
import { planContents } from '../previews/plan-contents.ts';
import { parseRules } from '../previews/rules/parse-rules.ts';
import { readSourceFolder } from '../sources/reading/read-source-folder.ts';
import { changeFleet } from './change-fleet.ts';
import { errorsAmong, testProblemText } from './read-test-objects.ts';

export interface RuleTestFile {
  readonly file: string;
  /** The name of the file in messages. */
  readonly shown: string;
  readonly test: RuleTest;
}

/** What the cases of a test came to, or why it could not be run at all. */
export type TestOutcome =
  | { readonly cases: readonly CaseOutcome[]; readonly assumed: readonly string[] }
  | { readonly problems: readonly string[] };

export interface RuleTestRun {
  readonly cwd: string;
  /** RFC 3339. */
  readonly now: string;
  readonly applications: ApplicationContext;
  readonly signal: AbortSignal;
}

/**
 * Plans the change of each case, and compares the results of the guard rules.
 * @returns `problems` when the fleet has errors; then nothing is tested, because objects are
 * missing
 * @throws InputError when the rules cannot be read
 */
export async function runRuleTest(
  { file, shown, test: { spec } }: RuleTestFile,
  run: RuleTestRun,
): Promise<TestOutcome> {
  const folder = path.dirname(file);
  const { cwd, signal } = run;
  const rules = await rulesOf(folder, spec.rules, cwd);
  const content = await readSourceFolder(path.resolve(folder, spec.fleet), { signal, cwd });
  const errors = errorsAmong(content.problems);
  if (errors.length > 0) return { problems: errors.map(testProblemText) };
  const outcomes: CaseOutcome[] = [];
  for (const [at, one] of spec.cases.entries()) {
    const about = { name: one.name, placement: '', failures: [], error: undefined };
    try {
      const place = { folder, shown: `${shown} (spec.cases[${at}])`, cwd, signal };
      const head = await changeFleet(content.objects, one, place);
      const context = { rules, now: spec.now ?? run.now, applications: run.applications };
      outcomes.push({ ...about, ...judgeCase(one, { base: content.objects, head }, context) });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      outcomes.push({ ...about, error: errorText(error) });
    }
  }
  const declared = snapshotOfObjects(content.objects, { now: spec.now ?? run.now });
  return { cases: outcomes, assumed: assumedSetNotes(declared) };
}

interface Judging {
  readonly rules: readonly PlanRule[];
  readonly now: string;
  readonly applications: ApplicationContext;
}

interface Sides {
  readonly base: readonly SourceObject[];
  readonly head: readonly SourceObject[];
}

/** Plans and judges a case like `berth plan` without a hub. */
function judgeCase(
  { assume = {}, expect }: RuleTestCase,
  { base, head }: Sides,
  { rules, now, applications }: Judging,
): Pick<CaseOutcome, 'failures' | 'error'> {
  const { plan, before, after } = planContents({
    base: { fleet: fleetOf(base), end: { name: 'fleet', commit: '' } },
    head: { fleet: fleetOf(head), end: { name: 'change', commit: '' } },
    ...{ now, applications, whatIf: assumptionsOf(assume) },
  });
  const findings = assessPlan({ plan, base: before, head: after, argocdClusters: undefined });
  const results = judgeRules(rules, { plan: { ...plan, findings }, base: before, head: after });
  return checkRuleExpectation(expect, results);
}

function fleetOf(declared: readonly SourceObject[]): {
  readonly objects: readonly SourceObject[];
  readonly declared: readonly SourceObject[];
} {
  return { objects: appliedObjects(declared, undefined), declared };
}

/** In the order in which `berth plan` applies its flags. */
const ASSUMED: readonly WhatIfFlag[] = ['label', 'claim', 'score', 'taint', 'drain', 'lose'];

function assumptionsOf(assume: NonNullable<RuleTestCase['assume']>): readonly WhatIf[] {
  return ASSUMED.flatMap((flag) => (assume[flag] ?? []).map((value) => parseWhatIf(flag, value)));
}

async function rulesOf(folder: string, given: string | undefined, cwd: string): Promise<readonly PlanRule[]> {
  const file = given === undefined ? await findRules(folder) : path.resolve(folder, given);
  const relative = path.relative(cwd, file);
  const shown = relative.startsWith('..') ? file : relative;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'test.rules',
      subject: shown,
      cause,
    });
  });
  return parseRules({ file: shown, text });
}

async function findRules(folder: string): Promise<string> {
  for (let at = folder; ; at = path.dirname(at)) {
    const file = path.join(at, RULES_FILE);
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
    if (at === path.dirname(at))
      throw new InputError(`expected one in the folder of the test or above it, or spec.rules`, {
        code: 'test.rules',
        subject: RULES_FILE,
      });
  }
}
