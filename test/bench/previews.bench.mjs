// How long `berth plan` takes on a large repository: one placement edited, one cluster drained. From the start of the process to its exit, without
// and with a warm cache. Then the processor time of plans that one process makes one after the other (later-plans.mjs).
// Usage: npm run build:modules && node test/bench/previews.bench.mjs [CLUSTERS [PLACEMENTS [FILES [SETS]]]]
// BENCH_PREVIEWS_DIR keeps the repository between runs; BENCH_PREVIEWS_RUNS is the number of measured runs (default 3).
// BENCH_BASELINE is another built checkout, which takes turns with this one.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PreviewsRepository } from './gen-previews.mjs';
import { commitFiles } from './gen-repository.mjs';

const [clusters, placements, files, sets] = [10_000, 1_000, 20_000, 500].map((size, at) => Number(process.argv[at + 2] ?? size));
const RUNS = Number(process.env.BENCH_PREVIEWS_RUNS ?? 3);
const HERE = fileURLToPath(new URL('../..', import.meta.url));
const CHECKOUTS = [...(process.env.BENCH_BASELINE ? [['before', process.env.BENCH_BASELINE]] : []), ['now', HERE]];
const LATER = fileURLToPath(new URL('later-plans.mjs', import.meta.url));
const folder = process.env.BENCH_PREVIEWS_DIR ?? mkdtempSync(join(tmpdir(), 'berth-previews-'));
const repo = join(folder, 'fleet.git');
if (!existsSync(repo)) {
  mkdirSync(folder, { recursive: true });
  const fleet = new PreviewsRepository({ clusters, placements, files, sets });
  const base = fleet.write(repo);
  execFileSync('git', ['--git-dir', repo, 'branch', 'base', base]);
  commitFiles(repo, [fleet.placementFile(11, 2)], base);
}

/** @returns seconds, those of processor time in all threads, and MiB of the largest resident set */
async function run(checkout, words) {
  const start = performance.now();
  const berth = join(checkout, 'dist/src/app/cli/main.js');
  const { code, out, errors } = await outputOf('/usr/bin/env', ['time', '-f', 'rss %M cpu %U %S', process.execPath, ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []), berth, 'plan', '--repo', repo, '-o', 'json', ...words]);
  const seconds = (performance.now() - start) / 1000;
  if (![0, 2, 3].includes(code)) throw new Error(errors);
  const [, kib, user, system] = /rss (\d+) cpu ([\d.]+) ([\d.]+)/.exec(errors) ?? [];
  return { seconds, cpu: Number(user) + Number(system), rss: Number(kib) / 1024, plan: JSON.parse(out) };
}

async function outputOf(program, words) {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = [[], []];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, out: Buffer.concat(out).toString(), errors: Buffer.concat(err).toString() };
}

const report = (name, { seconds, cpu, rss, plan }) => {
  const applications = plan.applications.reduce((sum, { applications: list }) => sum + list.length, 0);
  console.log(`${name.padEnd(36)} ${seconds.toFixed(1).padStart(6)} s (CPU ${cpu.toFixed(1)} s) ${rss.toFixed(0).padStart(6)} MiB   ${plan.placements.length} placements, ${applications} applications of ${plan.applications.length} sets change`);
};

console.log(`${clusters} clusters x ${placements} placements x ${files} files x ${sets} ApplicationSets, Node.js ${process.version}`);
const cache = mkdtempSync(join(tmpdir(), 'berth-plan-cache-'));
const cached = ['--cache', cache];
const edited = ['--base', 'base', '--head', 'main'];
const drained = ['--base', 'base', '--head', 'base', '--drain', 'cluster-5'];
const isWanted = (name) => !process.env.BENCH_PREVIEWS_ONLY || name.includes(process.env.BENCH_PREVIEWS_ONLY);
await run(HERE, [...edited, ...cached]);
for (const [name, words] of [['one placement edited', edited], ['one cluster drained', drained]].filter(([name]) => isWanted(name)))
  for (let i = 0; i < RUNS; i++) {
    for (const [which, checkout] of CHECKOUTS) report(`${name}, ${which}`, await run(checkout, words));
    report(`${name}, now, warm cache`, await run(HERE, [...words, ...cached]));
  }
rmSync(cache, { recursive: true, force: true });
for (const [name, words] of [['later plans, one placement edited', ['base', 'main', '8']], ['later plans, one cluster drained', ['base', 'base', '8', 'cluster-5']]].filter(([name]) => isWanted(name)))
  for (const [which, checkout] of CHECKOUTS) {
    const { out, errors } = await outputOf(process.execPath, ['--max-semi-space-size=64', LATER, checkout, repo, ...words]);
    if (out === '') throw new Error(errors);
    console.log(`${name}, ${which}: processor ms of each plan: ${JSON.parse(out).map(Math.round).join(', ')}`);
  }
if (process.env.BENCH_PREVIEWS_DIR === undefined) rmSync(folder, { recursive: true, force: true });
