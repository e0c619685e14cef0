// A mutation run: changes one place of a folder's sources at a time, in memory, and sees whether the tests of the folder notice.
//
//   node scripts/mutate.mjs [--count 80] [--seed 1] [--own] [--verbose] [FOLDER...]
//
// --own: only the folder's own tests are asked.
// FOLDER is one of those below, by default all. The same seed takes the same mutants of the same sources.
// Scores of past runs, and what was left, are in docs/testing.md.
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { mutantsOf } from './mutants.mjs';

/**
 * Sources, and the tests that have to notice: `own` first; `elsewhere` are asked about what these let pass. `unit:` before a
 * folder leaves out its integration tests.
 */
const FOLDERS = {
  'packages/agent/src/apply': {
    own: ['test/agent/agent.test.ts', 'test/agent/crash-points.test.ts', 'packages/agent/test/label-before-owner.test.ts'],
    elsewhere: ['packages/agent/test/apply', 'test/agent/apply', 'test/conformance/agent/scenarios.test.ts'],
  },
  'packages/placement/src': { own: ['unit:packages/placement/test'], elsewhere: ['packages/placement/test/conformance'] },
  'src/core/publish': { own: ['test/core/publish'], elsewhere: [] },
  'packages/embedded-hub/src/auth': { own: ['packages/embedded-hub/test/auth'], elsewhere: [] },
  'packages/embedded-hub/src/log': { own: ['packages/embedded-hub/test/log'], elsewhere: ['test/security/data-directory.test.ts'] },
  'packages/embedded-hub/src/watch': {
    own: ['unit:packages/embedded-hub/test/watch', 'unit:test/hub/watch'],
    elsewhere: ['test/hub/watch/watch.integration.test.ts', 'test/hub/webhooks/conversions.integration.test.ts'],
  },
  'src/core/preview/comment': { own: ['test/core/preview/comment'], elsewhere: [] },
  'src/controllers/previews/pull-requests': {
    own: ['test/controllers/previews/pull-requests'],
    elsewhere: ['test/app/serve/previews'],
  },
  'src/controllers/publication': {
    own: ['unit:test/controllers/publication'],
    elsewhere: ['test/controllers/publication/publish-scenarios.integration.test.ts'],
  },
  'src/controllers/sources/pruning': {
    own: ['test/controllers/sources/pruning'],
    elsewhere: ['deletion-window', 'emptied-source', 'loss-of-deleted', 'recorded-deletions', 'released-deletions'].map(
      (name) => `test/controllers/sources/following/${name}.integration.test.ts`,
    ),
  },
};
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const TEST_LIMIT_MS = 20_000;
/** A mutant whose run takes longer never ends: that is noticed too. */
const HANG_MS = 120_000;

function filesBelow(folder, ends) {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(ROOT, folder, name))
    .filter((name) => name.endsWith(ends))
    .sort();
}

/** Mulberry32. */
function numbersFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sampleOf(folder, count, seed) {
  const random = numbersFrom(seed);
  const all = filesBelow(folder, '.ts').flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')));
  const drawn = all.map((mutant) => ({ mutant, order: random() })).sort((a, b) => a.order - b.order);
  const sample = drawn.slice(0, count).map(({ mutant }) => mutant);
  return { found: all.length, sample };
}

/** The other process: one vitest, which runs the tests again for each mutant that it is sent. */
async function serveRuns() {
  let mutant;
  const mutating = {
    name: 'mutate',
    enforce: 'pre',
    transform: (code, id) =>
      id === mutant?.file ? code.slice(0, mutant.start) + mutant.text + code.slice(mutant.end) : undefined,
  };
  const vitest = await createVitest(
    'test',
    {
      ...{ root: ROOT, config: false, watch: false, pool: 'forks', maxWorkers: 1, isolate: false, bail: 1 },
      include: ['{test,packages/*/test}/**/*.test.ts'],
      reporters: [{}],
      ...{ testTimeout: TEST_LIMIT_MS, hookTimeout: TEST_LIMIT_MS, expect: { poll: { timeout: 5_000 } } },
    },
    { plugins: [mutating] },
  );
  process.on('message', async ({ change, tests }) => {
    const changed = [mutant?.file, change?.file].filter((file) => file !== undefined);
    mutant = change;
    for (const file of changed) vitest.invalidateFile(file);
    const project = vitest.getRootProject();
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
      tests.map((file) => project.createSpecification(file)),
      true,
    );
    // Vitest answers for the files of earlier runs too.
    const failed = testModules.filter((module) => tests.includes(module.moduleId) && !module.ok());
    const passed = unhandledErrors.length === 0 && failed.length === 0;
    process.send({ passed, by: failed.map(({ relativeModuleId }) => relativeModuleId).join(', ') });
  });
  process.send({ ready: true });
}

class Runs {
  #child;

  /** @returns {Promise<{outcome: 'passed' | 'failed' | 'hung', by: string}>} and the files that failed */
  async run(change, tests) {
    this.#child ??= await this.#start();
    const child = this.#child;
    return new Promise((done, fail) => {
      const timer = setTimeout(() => {
        this.#child = undefined;
        process.kill(-child.pid, 'SIGKILL');
        done({ outcome: 'hung', by: '' });
      }, HANG_MS);
      child.removeAllListeners('exit');
      child.once('exit', (code) => fail(new Error(`the runner ended with ${String(code)}`)));
      child.once('message', ({ passed, by }) => {
        clearTimeout(timer);
        done({ outcome: passed ? 'passed' : 'failed', by });
      });
      child.send({ change, tests });
    });
  }

  end() {
    this.#child?.removeAllListeners('exit');
    if (this.#child !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
  }

  #start() {
    const env = { ...process.env, VITEST: undefined };
    const child = fork(fileURLToPath(import.meta.url), ['--serve'], { detached: true, env, silent: true });
    return new Promise((done) => child.once('message', () => done(child)));
  }
}

async function mutateFolder(folder, { count, seed, verbose, isOwnOnly }) {
  const { own } = FOLDERS[folder];
  const elsewhere = isOwnOnly ? [] : FOLDERS[folder].elsewhere;
  const testsIn = (place) => {
    if (place.endsWith('.ts')) return [join(ROOT, place)];
    const all = filesBelow(place.replace(/^unit:/, ''), '.test.ts');
    return place.startsWith('unit:') ? all.filter((file) => !file.endsWith('.integration.test.ts')) : all;
  };
  const tests = (places) => places.flatMap(testsIn);
  const { found, sample } = sampleOf(folder, count, seed);
  const runs = new Runs();
  const began = performance.now();
  const passes = async (mutant, folders) => {
    const { outcome, by } = await runs.run(mutant, tests(folders));
    if (outcome === 'hung') counts.hung += 1;
    if (mutant !== undefined && verbose) console.log(`  ${outcome} ${by}: ${placeOf(mutant)}`);
    return outcome === 'passed';
  };
  const left = [];
  const counts = { own: 0, elsewhere: 0, hung: 0 };
  try {
    if (!(await passes(undefined, own))) throw new Error(`the tests of ${folder} fail as they are`);
    for (const mutant of sample) {
      if (!(await passes(mutant, own))) counts.own += 1;
      else if (elsewhere.length > 0 && !(await passes(mutant, elsewhere))) counts.elsewhere += 1;
      else left.push(mutant);
    }
    if (!(await passes(undefined, own))) throw new Error(`the tests of ${folder} fail without a change`);
  } finally {
    runs.end();
  }
  const percent = (some) => `${((100 * some) / sample.length).toFixed(0)} %`;
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(`${folder}: ${found} mutants, ${sample.length} tried in ${seconds} s (seed ${seed})`);
  console.log(`  noticed by its own tests: ${counts.own} (${percent(counts.own)})`);
  if (elsewhere.length > 0)
    console.log(`  then by ${elsewhere.join(', ')}: ${counts.elsewhere} (${percent(counts.own + counts.elsewhere)} in all)`);
  console.log(`  ended because they hung: ${counts.hung}`);
  for (const mutant of left) console.log(`  left: ${placeOf(mutant)}`);
}

const placeOf = ({ file, line, what }) => `${file.slice(ROOT.length + 1)}:${line}: ${what}`;

const { values, positionals } = parseArgs({
  options: { count: { type: 'string', default: '80' }, seed: { type: 'string', default: '1' }, verbose: { type: 'boolean' }, own: { type: 'boolean' }, serve: { type: 'boolean' } },
  allowPositionals: true,
});
if (values.serve) await serveRuns();
else {
  const options = { count: Number(values.count), seed: Number(values.seed), verbose: values.verbose, isOwnOnly: values.own };
  for (const folder of positionals.length > 0 ? positionals : Object.keys(FOLDERS)) await mutateFolder(folder, options);
}
