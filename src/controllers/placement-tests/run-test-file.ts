import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseManifests } from '../../adapters/yaml/parse-manifests.ts';
import { errorText } from '../../core/errors.ts';
import { PLACEMENT_TEST, type PlacementTest } from '../../core/placement-test/placement-test.ts';
import type { TestEngine } from '../../core/placement-test/run-placement-test.ts';
import { runPlacementTestCase } from '../../core/placement-test/run-placement-test.ts';
import type { Problem } from '../../core/model/problem.ts';
import { formatLocation } from '../../core/model/source-location.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import { refOf } from '../../core/model/object-ref.ts';
import type { SourceObject } from '../../core/model/source-object.ts';
import { readSourceFolder } from '../sources/reading/read-source-folder.ts';
import type { TestReport } from '../../core/placement-test/junit.ts';

export interface TestRun {
  readonly cwd: string;
  /** RFC 3339, for tests that do not say when they play. */
  readonly now: string;
  readonly engine: TestEngine;
  readonly signal: AbortSignal;
  /** Milliseconds from any fixed point. */
  readonly clockMs: () => number;
}

/** Runs every PlacementTest of a file. What is wrong with the file or its fleet is part of the report. */
export async function runTestFile(file: string, run: TestRun): Promise<readonly TestReport[]> {
  const shown = shownPath(file, run.cwd);
  const parsed = parseManifests({ file: shown, text: await readFile(file, 'utf8') });
  // A warning too: an expectation with a typo in its name would hold whatever happens.
  if (parsed.problems.length > 0)
    return [broken(shown, path.basename(file), parsed.problems.map(problemText))];
  const tests = parsed.manifests.filter(({ object }) => object.kind === PLACEMENT_TEST.kind);
  if (tests.length === 0) return [broken(shown, path.basename(file), [`${shown}: holds no PlacementTest`])];
  const reports: TestReport[] = [];
  for (const { object } of tests) reports.push(await runTest(file, object as unknown as PlacementTest, run));
  return reports;
}

async function runTest(file: string, test: PlacementTest, run: TestRun): Promise<TestReport> {
  const shown = shownPath(file, run.cwd);
  const startMs = run.clockMs();
  const read = await readSnapshot(file, test, run).catch((error: unknown) => ({
    problems: [errorText(error)],
  }));
  if ('problems' in read) return broken(shown, test.metadata.name, read.problems);
  const cases = test.spec.cases.map((one) => runPlacementTestCase(read.snapshot, one, run.engine));
  return { file: shown, name: test.metadata.name, cases, problems: [], durationMs: run.clockMs() - startMs };
}

/** A fleet with errors is not tested: the missing objects would make any answer worthless. */
async function readSnapshot(
  file: string,
  { spec }: PlacementTest,
  run: TestRun,
): Promise<{ snapshot: Snapshot } | { problems: readonly string[] }> {
  const own = inlineObjects(shownPath(file, run.cwd), spec.objects ?? []);
  const content =
    spec.fleet === undefined ? undefined : await readFleet(path.resolve(path.dirname(file), spec.fleet), run);
  const errors = [...own.problems, ...(content?.problems ?? [])].filter(
    ({ severity }) => severity === 'error',
  );
  if (errors.length > 0) return { problems: errors.map(problemText) };
  const objects = overlay(content?.objects ?? [], own.manifests);
  return { snapshot: snapshotOfObjects(objects, { now: spec.now ?? run.now }) };
}

function readFleet(folder: string, { signal, cwd }: TestRun) {
  return readSourceFolder(folder, { signal, cwd });
}

/** Inline objects are checked like a file of their own, so that a mistake in them is found. */
function inlineObjects(shown: string, objects: readonly unknown[]) {
  return parseManifests({
    file: `${shown} (spec.objects)`,
    text: objects.map((one) => JSON.stringify(one)).join('\n---\n'),
  });
}

/** Objects of the fleet, with those of the same kind and name replaced. */
function overlay(fleet: readonly SourceObject[], own: readonly SourceObject[]): readonly SourceObject[] {
  const key = ({ object }: SourceObject): string => {
    const { kind, namespace, name } = refOf(object);
    return `${kind} ${namespace}/${name}`;
  };
  const replaced = new Set(own.map(key));
  return [...fleet.filter((one) => !replaced.has(key(one))), ...own];
}

function broken(file: string, name: string, problems: readonly string[]): TestReport {
  return { file, name, cases: [], problems, durationMs: 0 };
}

function problemText({ message, location, object }: Problem): string {
  const where = location === undefined ? '' : `${formatLocation(location)}: `;
  return `${where}${object === undefined ? '' : `${object}: `}${message}`;
}

function shownPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') ? file : relative;
}
