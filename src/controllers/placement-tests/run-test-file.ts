import { access, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { formatRef, objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { errorText, InputError } from '@berth/runtime/errors';
import { mergePatch } from '@berth/runtime/json/merge-patch';
import type { Problem } from '@berth/runtime/problem/problem';
import { makeFieldLocator } from '../../adapters/yaml/locate-fields.ts';
import { asNamed, type ParsedManifest, parseManifests } from '../../adapters/yaml/parse-manifests.ts';
import { PLACEMENT_TEST, type PlacementTest } from '../../core/placement-test/placement-test.ts';
import type { TestReport } from '../../core/placement-test/render-report.ts';
import {
  type CaseOutcome,
  runPlacementTestCase,
  type TestEngine,
} from '../../core/placement-test/run-placement-test.ts';
import { assessPlan } from '../../core/preview/risk/assess-plan.ts';
import { checkRuleExpectation } from '../../core/preview/rules/check-rule-expectation.ts';
import { judgeRules } from '../../core/preview/rules/judge-rules.ts';
import { type PlanRule, RULES_FILE } from '../../core/preview/rules/plan-rule.ts';
import {
  type ChangeTarget,
  type FleetChange,
  RULE_TEST,
  type RuleTest,
  type RuleTestCase,
} from '../../core/preview/rules/rule-test.ts';
import type { WhatIf } from '../../core/preview/what-if/apply-what-if.ts';
import { parseWhatIf, type WhatIfFlag } from '../../core/preview/what-if/parse-what-if.ts';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/cluster-sets.ts';
import { problemText } from '../../core/sources/describe-problem.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import { appliedObjects } from '../../core/sync/applied/applied-kinds.ts';
import type { ApplicationContext } from '../previews/plan-applications.ts';
import { planContents } from '../previews/plan-contents.ts';
import { parseRules } from '../previews/rules/parse-rules.ts';
import { readSourceFolder } from '../sources/reading/read-source-folder.ts';

export interface TestRun {
  readonly cwd: string;
  /** RFC 3339; the default time of tests. */
  readonly now: string;
  readonly engine: TestEngine;
  /** The context for rendering ApplicationSets in rule tests. */
  readonly applications: ApplicationContext;
  readonly signal: AbortSignal;
  /** Milliseconds since an arbitrary fixed point. */
  readonly clockMs: () => number;
}

/** Runs every test of a file. Problems of the file or its fleet are part of the report. */
export async function runTestFile(file: string, run: TestRun): Promise<readonly TestReport[]> {
  const shown = shownPath(file, run.cwd);
  const text = await readFile(file, 'utf8');
  const parsed = asNamed(shown, parseManifests({ file: shown, text }));
  // Warnings, too: an expectation with a typo in its name would always pass.
  if (parsed.problems.length > 0)
    return [broken(shown, path.basename(file), parsed.problems.map(problemText))];
  const tests = parsed.manifests.filter(({ object: { kind } }) => TEST_KINDS.includes(kind));
  if (tests.length === 0)
    return [broken(shown, path.basename(file), [`${shown}: contains no ${TEST_KINDS.join(' or ')}`])];
  const reports: TestReport[] = [];
  for (const test of tests) reports.push(await runTest({ file, shown, text, test }, run));
  return reports;
}

const TEST_KINDS: readonly string[] = [PLACEMENT_TEST.kind, RULE_TEST.kind];

interface TestInFile {
  readonly file: string;
  /** The name of the file in messages. */
  readonly shown: string;
  readonly text: string;
  readonly test: ParsedManifest;
}

async function runTest({ file, shown, text, test }: TestInFile, run: TestRun): Promise<TestReport> {
  const { object, place } = test;
  const startMs = run.clockMs();
  const ran = await (object.kind === RULE_TEST.kind
    ? runRuleTest({ file, shown, test: object as unknown as RuleTest }, run)
    : runPlacementTest(file, object as unknown as PlacementTest, run)
  ).catch((error: unknown) => ({ problems: [errorText(error)] }));
  if ('problems' in ran) return broken(shown, object.metadata.name, ran.problems);
  const locate = makeFieldLocator(text);
  const located = ran.cases.map((one, at) => ({
    ...one,
    location: { file: shown, ...locate(place, ['spec', 'cases', at]) },
  }));
  const durationMs = run.clockMs() - startMs;
  const { assumed } = ran;
  return { file: shown, name: object.metadata.name, cases: located, problems: [], assumed, durationMs };
}

async function runPlacementTest(file: string, test: PlacementTest, run: TestRun): Promise<TestOutcome> {
  const read = await readSnapshot(file, test, run);
  if ('problems' in read) return read;
  const { declared } = read;
  const snapshot = withAssumedSets(declared);
  return {
    cases: test.spec.cases.map((one) => runPlacementTestCase(snapshot, one, run.engine)),
    assumed: assumedSetNotes(declared),
  };
}

/** A fleet with errors is not tested, because missing objects make every result wrong. */
async function readSnapshot(
  file: string,
  { spec }: PlacementTest,
  { cwd, now, signal }: TestRun,
): Promise<{ declared: Snapshot } | { problems: readonly string[] }> {
  const own = readInlineObjects(`${shownPath(file, cwd)} (spec.objects)`, spec.objects ?? []);
  const content =
    spec.fleet === undefined
      ? undefined
      : await readSourceFolder(path.resolve(path.dirname(file), spec.fleet), { signal, cwd });
  const errors = errorsAmong([...own.problems, ...(content?.problems ?? [])]);
  if (errors.length > 0) return { problems: errors.map(problemText) };
  const objects = overlayObjects(content?.objects ?? [], own.objects);
  return { declared: snapshotOfObjects(objects, { now: spec.now ?? now }) };
}

function broken(file: string, name: string, problems: readonly string[]): TestReport {
  return { file, name, cases: [], problems, assumed: [], durationMs: 0 };
}

function shownPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') ? file : relative;
}

/** The objects of a test, and their problems. */
interface TestObjects {
  readonly objects: readonly SourceObject[];
  readonly problems: readonly Problem[];
}

/**
 * Checks the inline objects of a test file as if they were a manifest file, so that mistakes in them are found.
 * @param shown the place in messages, such as `a.placement-test.yaml (spec.objects)`
 */
function readInlineObjects(shown: string, objects: readonly unknown[]): TestObjects {
  const text = objects.map((one) => JSON.stringify(one)).join('\n---\n');
  const { manifests, problems } = asNamed(shown, parseManifests({ file: shown, text }));
  return { objects: manifests, problems };
}

/** The objects of the fleet. An object of the test replaces the one of the same kind and name. */
function overlayObjects(
  fleet: readonly SourceObject[],
  own: readonly SourceObject[],
): readonly SourceObject[] {
  const key = ({ object }: SourceObject): string => objectIdentity(refOf(object));
  const replaced = new Set(own.map(key));
  return [...fleet.filter((one) => !replaced.has(key(one))), ...own];
}

function errorsAmong(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** `file:line:column: Placement a/b: what is wrong` */
interface RuleTestFile {
  readonly file: string;
  /** The name of the file in messages. */
  readonly shown: string;
  readonly test: RuleTest;
}

/** What the cases of a test came to, or why it could not be run at all. */
type TestOutcome =
  | { readonly cases: readonly CaseOutcome[]; readonly assumed: readonly string[] }
  | { readonly problems: readonly string[] };

interface RuleTestRun {
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
async function runRuleTest(
  { file, shown, test: { spec } }: RuleTestFile,
  run: RuleTestRun,
): Promise<TestOutcome> {
  const folder = path.dirname(file);
  const { cwd, signal } = run;
  const rules = await rulesOf(folder, spec.rules, cwd);
  const content = await readSourceFolder(path.resolve(folder, spec.fleet), { signal, cwd });
  const errors = errorsAmong(content.problems);
  if (errors.length > 0) return { problems: errors.map(problemText) };
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

interface ChangePlace {
  /** The folder that paths are relative to. */
  readonly folder: string;
  /** The name of the change in messages. */
  readonly shown: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/**
 * Applies a change to the objects of a fleet: deletions, patches, and added or replaced objects.
 * @throws InputError when the change names an object that does not exist, or makes one invalid
 */
async function changeFleet(
  fleet: readonly SourceObject[],
  { remove = [], patches = [], overlay, objects = [] }: FleetChange,
  place: ChangePlace,
): Promise<readonly SourceObject[]> {
  const gone = new Set(remove.map((target, at) => find(fleet, target, `remove[${at}]`)));
  let changed = fleet.filter((one) => !gone.has(one));
  for (const [at, { target, patch }] of patches.entries()) {
    const old = find(changed, target, `patches[${at}]`);
    const patched = patchOf(old, patch, { ...place, shown: `${place.shown} patches[${at}]` });
    changed = changed.map((one) => (one === old ? patched : one));
  }
  const overlaid = overlay === undefined ? [] : await readOverlay(overlay, place);
  return overlayObjects(overlayObjects(changed, overlaid), checked(objects, `${place.shown} objects`));
}

function find(fleet: readonly SourceObject[], target: ChangeTarget, field: string): SourceObject {
  const { kind, namespace = '', name } = target;
  const found = fleet.find(({ object }) => {
    const ref = refOf(object);
    return ref.kind === kind && ref.namespace === namespace && ref.name === name;
  });
  if (found !== undefined) return found;
  throw new InputError(`there is no ${formatRef({ kind, namespace, name })} in the fleet`, {
    code: 'test.change',
    subject: field,
  });
}

function patchOf({ object }: SourceObject, patch: object, { shown }: ChangePlace): SourceObject {
  const [patched] = checked([mergePatch(JSON.parse(JSON.stringify(object)), patch)], shown);
  if (patched === undefined)
    throw new InputError('leaves no object', { code: 'test.change', subject: shown });
  return patched;
}

async function readOverlay(
  overlay: string,
  { folder, cwd, signal }: ChangePlace,
): Promise<readonly SourceObject[]> {
  const content = await readSourceFolder(path.resolve(folder, overlay), { signal, cwd });
  refuse(content.problems, overlay);
  return content.objects;
}

function checked(objects: readonly unknown[], shown: string): readonly SourceObject[] {
  const read = readInlineObjects(shown, objects);
  refuse(read.problems, shown);
  return read.objects;
}

function refuse(problems: readonly Problem[], subject: string): void {
  const [first, ...more] = errorsAmong(problems);
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  throw new InputError(`${problemText(first)}${others}`, { code: 'test.change', subject });
}

const TEST_FILE = /\.(?:placement|rule)-test\.ya?ml$/;

/**
 * The test files below the given folders, and the given files themselves, sorted.
 * @throws InputError if a path does not exist
 */
export async function findTestFiles(roots: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const root of roots) {
    const full = path.resolve(cwd, root);
    const info = await stat(full).catch((cause: unknown) => {
      throw new InputError('cannot be read, expected a folder or file', {
        code: 'test.not-found',
        subject: root,
        cause,
      });
    });
    if (info.isFile()) found.add(full);
    else await collect(full, found);
  }
  return [...found].toSorted();
}

/** Symbolic links are not followed; neither does Berth follow them when it reads a fleet. */
async function collect(folder: string, found: Set<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules')
      await collect(full, found);
    else if (entry.isFile() && TEST_FILE.test(entry.name)) found.add(full);
  }
}
