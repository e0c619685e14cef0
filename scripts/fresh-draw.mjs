// Runs each test with random input once with the seed of this commit, beside the fixed seeds of CI:
//   node scripts/fresh-draw.mjs REPORT
// Writes what failed to REPORT, with the command that repeats it. Ends with 0 whatever it finds: a change does not fail by luck.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { failuresOf, randomTests } from './random-tests.mjs';

/** What takes a few minutes on two cores. */
const SHORT = {
  CI: 'true',
  BERTH_PROPERTY_RUNS: '500',
  BERTH_HISTORIES: '150',
  BERTH_PUBLICATION_HISTORIES: '200',
  BERTH_PLAN_HISTORIES: '1',
  BERTH_FRESH_HUBS: '2',
  BERTH_SIMULATIONS: '4',
  BERTH_FUZZ_INPUTS: '1000',
};

const [report] = process.argv.slice(2);
if (report === undefined) throw new Error('expected the path of the report');
const commit = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? '';
// Outside of a clone there is no commit to draw from.
const seed = commit === '' ? Math.floor(Math.random() * 2 ** 28) : Number.parseInt(commit.slice(0, 7), 16);
console.log(`seed ${seed}, from ${commit === '' ? 'chance, because there is no commit here' : `commit ${commit}`}`);
const failures = failuresOf(randomTests(), { BERTH_SEED: String(seed), ...SHORT }, ['--reporter=default']);
const lines = failures.flatMap(({ name, message, command }) => [`failed: ${name}: ${message}`, `  ${command}`]);
const title =
  failures.length === 0
    ? `fresh draw (seed ${seed}): all passed`
    : `fresh draw (seed ${seed}): ${failures.length} FAILED, each a defect to repair; this run does not fail because of them. After \`npm run build\`:`;
writeFileSync(report, [title, ...lines, ''].join('\n'));
