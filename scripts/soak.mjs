// Runs every test with random input with fresh seeds, one file at a time, again and again:
//   npm run soak -- [--minutes N] [--seed N] [FILE ...]
// Prints what failed, with the command that repeats it, and ends with 1 if anything did. The last file runs to its end. A test waits as
// long as in CI, because other work slows a machine down in an hour.
import { parseArgs } from 'node:util';
import { failuresOf, randomTests } from './random-tests.mjs';

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string' } },
  allowPositionals: true,
});
for (const name of ['minutes', 'seed'])
  if (values[name] !== undefined && !(Number(values[name]) > 0))
    throw new Error(`--${name}: expected a number above 0, got ${JSON.stringify(values[name])}`);
const all = randomTests();
const files = positionals.length === 0 ? all : all.filter((file) => positionals.some((part) => file.includes(part)));
if (files.length === 0) throw new Error(`no test with random input has a path with ${positionals.join(' or ')}`);

/** More than one test draws from a seed and the numbers after it. */
const APART = 1000;
const deadlineMs = Date.now() + Number(values.minutes) * 60_000;
let seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 28));
let runs = 0;
const found = [];
for (let at = 0; Date.now() < deadlineMs; at = (at + 1) % files.length) {
  if (at === 0 && runs > 0) seed += APART;
  const startedMs = Date.now();
  const failures = failuresOf([files[at]], { CI: 'true', BERTH_SEED: String(seed) });
  runs++;
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  console.log(`${failures.length === 0 ? 'passed' : 'FAILED'}: ${files[at]} (seed ${seed}, ${seconds} s)`);
  for (const failure of failures) print(failure);
  found.push(...failures);
}
if (found.length > 0) console.log('\nAll that failed; the commands need `npm run build` before them:');
for (const failure of found) print(failure);
console.log(`${runs} runs of ${files.length} files, ${found.length} failures`);
process.exitCode = found.length > 0 ? 1 : 0;

function print({ name, message, command }) {
  console.log(`failed: ${name}: ${message}\n  ${command}`);
}
