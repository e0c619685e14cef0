import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFieldLocator } from '../../adapters/yaml/locate-fields.ts';
import { type ParsedManifest, parseManifests } from '../../adapters/yaml/parse-manifests.ts';
import { errorText } from '@berth/runtime/errors';
import { PLACEMENT_TEST, type PlacementTest } from '../../core/placement-test/placement-test.ts';
import type { TestEngine } from '../../core/placement-test/run-placement-test.ts';
import { runPlacementTestCase } from '../../core/placement-test/run-placement-test.ts';
import type { TestReport } from '../../core/placement-test/junit.ts';
import { RULE_TEST, type RuleTest } from '../../core/preview/rules/rule-test.ts';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/sets/assumed-sets.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import type { ApplicationContext } from '../previews/plan-applications.ts';
import { readSourceFolder } from '../sources/reading/read-source-folder.ts';
import { errorsAmong, overlayObjects, readInlineObjects, testProblemText } from './read-test-objects.ts';
import { runRuleTest, type TestOutcome } from './run-rule-test.ts';

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
  const parsed = parseManifests({ file: shown, text });
  // Warnings, too: an expectation with a typo in its name would always pass.
  if (parsed.problems.length > 0)
    return [broken(shown, path.basename(file), parsed.problems.map(testProblemText))];
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
  if (errors.length > 0) return { problems: errors.map(testProblemText) };
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
