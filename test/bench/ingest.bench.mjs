// Ingest against bare git, side by side in one run: `npm run build:modules && node test/bench/ingest.bench.mjs [FILES] [--threshold]`
// `--threshold` also reads 500 to 8,000 files with a thread and without one.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import yaml from 'js-yaml';
import { GitProgramMirror } from '../../.cache/modules/packages/git-reader/src/program/git-program-mirror.js';
import { openGitSource } from '../../.cache/modules/src/controllers/sources/reading/git-source.js';
import { commitFiles, filesOf } from './gen-repository.mjs';

const FILES = Number(process.argv.slice(2).find((arg) => /^\d+$/.test(arg)) ?? 20_000);
const ROUNDS = 5;
const ROUND = new URL('./ingest-round.mjs', import.meta.url).pathname;
const root = mkdtempSync(path.join(os.tmpdir(), 'berth-bench-'));
const origin = path.join(root, 'origin.git');
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_DIR: origin };
const git = (...args) => execFileSync('git', args, { env, encoding: 'utf8', maxBuffer: 1 << 28 }).trim();
execFileSync('git', ['init', '-q', '--bare', '-b', 'main', origin]);

const all = filesOf(FILES);
let tip = commitFiles(origin, all);
git('gc', '-q');
const json = all.map(([, text]) => JSON.stringify(yaml.load(text)));
const bytes = all.reduce((sum, [, text]) => sum + text.length, 0);
console.log(`${FILES} files, ${(bytes / 1e6).toFixed(1)} MB of YAML, Node.js ${process.version}`);

const timed = async (action) => {
  const start = performance.now();
  await action();
  return performance.now() - start;
};
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];

const mirrorDir = path.join(root, 'mirror.git');
const ambient = process.env;
const mirror = await GitProgramMirror.open({ url: origin, mirrorDir, ambient });
await mirror.fetch({ type: 'branch', name: 'main' });
const ids = (await mirror.listTree(tip)).map(({ id }) => id);

await mirror.close();

// Each round in a process of its own, as a start is: nothing is compiled or warm, for the baseline neither.
writeFileSync(path.join(root, 'ids'), ids.join('\n'));
writeFileSync(path.join(root, 'json'), json.join('\n'));
const round = (mode, cache = 'none') =>
  JSON.parse(execFileSync(process.execPath, [ROUND, mode, root, tip, String(FILES), cache], { encoding: 'utf8', env: process.env }));
const rounds = { baseline: [], here: [], threads: [], cached: [] };
for (let at = 0; at < ROUNDS; at++) {
  rounds.baseline.push(round('baseline'));
  rounds.here.push(round('here'));
  rounds.threads.push(round('threads', `cache-${at}`));
  rounds.cached.push(round('cached', `cache-${at}`));
}
const against = 'git cat-file --batch + JSON.parse';
const of = (mode) => median(rounds[mode].map(({ wallMs }) => wallMs));
for (const [mode, name] of [['threads', 'with threads and cache, as berth serve'], ['here', 'in one thread, nothing kept'], ['cached', 'from the cache']]) {
  report(`first ingest ${name}`, of(mode), against, of('baseline'), 2.5);
  console.log(`  CPU ${median(rounds[mode].map(({ cpuMs }) => cpuMs)).toFixed(0)} ms, of the baseline ${median(rounds.baseline.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms`);
}
for (const count of process.argv.includes('--threshold') ? [500, 1_000, 2_000, 4_000, 8_000] : []) {
  const times = (mode) => median(Array.from({ length: 5 }, () => round(mode, `first-${count}`).wallMs));
  console.log(`${count} files: ${times('here').toFixed(0)} ms here, ${times('threads').toFixed(0)} ms with a new thread`);
}

const source = await openGitSource({ url: origin, mirrorDir: path.join(root, 'm2.git'), ambient, ref: { type: 'branch', name: 'main' } });
await source.fetch();
await source.read();
execFileSync('git', ['clone', '-q', '--bare', origin, path.join(root, 'bare.git')]);
const bareEnv = { ...env, GIT_DIR: path.join(root, 'bare.git') };
const bare = [];
const incremental = [];
for (let round = 0; round < 40; round++) {
  const before = tip;
  const i = (round * 7919) % FILES;
  tip = commitFiles(origin, [[all[i][0], all[i][1].replace(/name: (\S+)/, `name: $1\n  generation: ${round + 1}`)]], before);
  bare.push(await timed(async () => {
    await run(['fetch', '-q', origin, '+refs/heads/main:refs/heads/main'], bareEnv);
    await run(['diff-tree', '-r', before, tip], bareEnv);
  }));
  incremental.push(await timed(async () => {
    await source.fetch();
    const fleet = await source.read();
    if (fleet.objects.length !== FILES) throw new Error(`${fleet.objects.length} objects after a commit: ${fleet.problems[0]?.message}`);
  }));
}
report('a commit of one file, p99', quantile(incremental, 0.99), 'git fetch + git diff-tree, p99', quantile(bare, 0.99), 3);
report('a commit of one file, median', median(incremental), 'git fetch + git diff-tree, median', median(bare), 3);
await source.close();

const again = await timed(async () => {
  const restarted = await openGitSource({ url: origin, mirrorDir: path.join(root, 'm2.git'), ambient, ref: { type: 'branch', name: 'main' } });
  await restarted.fetch();
  await restarted.read();
  await restarted.close();
});
console.log(`restart with nothing changed: ${again.toFixed(0)} ms (limit 3000)`);
console.log(`peak memory: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
rmSync(root, { recursive: true, force: true });

function run(args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', () => undefined);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`git ${args[0]}: ${code}`))));
  });
}
function report(name, time, against, base, limit) {
  console.log(`${name}: ${time.toFixed(0)} ms; ${against}: ${base.toFixed(0)} ms; ratio ${(time / base).toFixed(2)} (limit ${limit})`);
}
