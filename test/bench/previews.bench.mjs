// How long `berth plan` takes on a large repository: one placement edited, one cluster drained. From the start of the process to its exit.
// Usage: npm run build && node test/bench/previews.bench.mjs [CLUSTERS [PLACEMENTS [FILES [SETS]]]]
// BENCH_PREVIEWS_DIR keeps the repository between runs; BENCH_PREVIEWS_RUNS is the number of measured runs (default 3).
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PreviewsRepository } from './gen-previews.mjs';
import { commitFiles } from './gen-repository.mjs';

const [clusters, placements, files, sets] = [10_000, 1_000, 20_000, 500].map((size, at) => Number(process.argv[at + 2] ?? size));
const RUNS = Number(process.env.BENCH_PREVIEWS_RUNS ?? 3);
const BERTH = fileURLToPath(new URL('../../dist/src/app/cli/main.js', import.meta.url));
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
async function run(words) {
  const start = performance.now();
  const child = spawn('/usr/bin/env', ['time', '-f', 'rss %M cpu %U %S', process.execPath, ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []), BERTH, 'plan', '--repo', repo, '-o', 'json', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = [[], []];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  const seconds = (performance.now() - start) / 1000;
  const errors = Buffer.concat(err).toString();
  if (![0, 2, 3].includes(code)) throw new Error(errors);
  const plan = JSON.parse(Buffer.concat(out).toString());
  const [, kib, user, system] = /rss (\d+) cpu ([\d.]+) ([\d.]+)/.exec(errors) ?? [];
  return { seconds, cpu: Number(user) + Number(system), rss: Number(kib) / 1024, plan };
}

const report = (name, { seconds, cpu, rss, plan }) => {
  const applications = plan.applications.reduce((sum, { applications: list }) => sum + list.length, 0);
  console.log(`${name.padEnd(22)} ${seconds.toFixed(1).padStart(6)} s (CPU ${cpu.toFixed(1)} s) ${rss.toFixed(0).padStart(6)} MiB   ${plan.placements.length} placements, ${applications} applications of ${plan.applications.length} sets change`);
};

console.log(`${clusters} clusters x ${placements} placements x ${files} files x ${sets} ApplicationSets, Node.js ${process.version}`);
const edited = ['--base', 'base', '--head', 'main'];
const drained = ['--base', 'base', '--head', 'base', '--drain', 'cluster-5'];
for (const [name, words] of [['one placement edited', edited], ['one cluster drained', drained]]) {
  if (process.env.BENCH_PREVIEWS_ONLY && !name.includes(process.env.BENCH_PREVIEWS_ONLY)) continue;
  for (let i = 0; i < RUNS; i++) report(name, await run(words));
}
if (process.env.BENCH_PREVIEWS_DIR === undefined) rmSync(folder, { recursive: true, force: true });
