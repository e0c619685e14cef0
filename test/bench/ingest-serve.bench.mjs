/**
 * From a commit of one file to the decision on the hub, and restarts with nothing changed, with the built CLI: `berth hub` and `berth serve` in
 * processes of their own, told by a webhook. `npm run build:modules && node test/bench/ingest-serve.bench.mjs [FILES] [COMMITS]`
 * BENCH_DIR keeps the filled hub and the repository between runs: filling takes longer than measuring. BENCH_FILL=1 ends when an empty hub is full.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { PLACEMENT, PLACEMENT_DECISION } from '../../.cache/modules/packages/kube/src/model/kinds.js';
import { firstLine, startBerth } from './berth-child.mjs';
import { commitFiles, fileOf, filesOf, manifestOf, placementsOf, setFiles } from './gen-repository.mjs';

const FILES = Number(process.argv[2] ?? 20_000);
const COMMITS = Number(process.argv[3] ?? 100);
const PORT = 20_000 + (process.pid % 10_000);
const MAIN = new URL('../../dist/src/app/cli/main.js', import.meta.url).pathname;
const keep = process.env.BENCH_DIR;
const root = keep ?? mkdtempSync(join(tmpdir(), 'berth-bench-'));
const origin = join(root, 'origin.git');
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
const git = (gitDir, ...args) => execFileSync('git', args, { env: { ...env, GIT_DIR: gitDir }, encoding: 'utf8' }).trim();
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(list.length * q) - 1)];
/** A comparison of the hub that changed nothing is logged at this level. */
const DEBUG = ['--log-level', 'debug'];
const ms = (value) => `${value.toFixed(0)} ms`;

mkdirSync(root, { recursive: true });
if (!existsSync(origin)) {
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', origin], { env });
  commitFiles(origin, [...setFiles(), ...filesOf(FILES)]);
  git(origin, 'gc', '-q');
  writeFileSync(join(root, 'secret'), 'bench\n');
}

// Long before it is measured with: what it leaves to be written to disk would slow the first commits down, everybody's.
const clone = join(root, 'bare.git');
rmSync(clone, { recursive: true, force: true });
execFileSync('git', ['clone', '-q', '--bare', origin, clone]);

const hub = await start(['hub', '--data', join(root, 'hub'), '--listen', '127.0.0.1:0']);
const kubeconfig = await firstLine(hub);
const api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock: systemClock });
const revision = async () => Number((await api.list(PLACEMENT, { namespace: 'none' })).resourceVersion);

const isEmpty = (await api.list(PLACEMENT)).items.length === 0;
const [hubTicks, emptied] = [cpuMs(hub.child), performance.now()];
let serve = await startServe(isEmpty ? [] : DEBUG);
if (isEmpty) {
  await serve.whenPublished(placementsOf(FILES).length);
  const publishedMs = performance.now() - emptied;
  console.log(`an empty hub: hub follows Git ${ms(serve.syncedMs)}, all decisions published ${ms(publishedMs)}; processor time: controller ${ms(cpuMs(serve.child))}, hub ${ms(cpuMs(hub.child) - hubTicks)}`);
}
if (process.env.BENCH_FILL) await end();

for (let round = 0; round < Number(process.env.BENCH_RESTARTS ?? 3); round++) {
  await serve.stop();
  const before = await revision();
  serve = await startServe(DEBUG);
  const usedMs = cpuMs(serve.child);
  await whenIdle(2_000);
  console.log(`restart with nothing changed: ready ${ms(serve.readyMs)}, Git read and hub compared ${ms(serve.syncedMs)} (limit 3000), ${ms(usedMs)} of processor time, ${(await revision()) - before} writes, ${rss(serve.child)} MB`);
}

// The commits meet a process with the usual log.
await serve.stop();
serve = await startServe([], 'ready');
await whenIdle(2_000);
const placements = placementsOf(FILES);
const decisions = watchDecisions();
const bare = [];
const ours = [];
for (let round = 0; round < COMMITS; round++) {
  const before = git(origin, 'rev-parse', 'refs/heads/main');
  const i = placements[(round * 1_237) % placements.length];
  // Another number than before, also in a repository of an earlier run: a commit that changes nothing is never seen.
  const [, present] = /numberOfClusters: (\d+)/.exec(git(origin, 'show', `${before}:${fileOf(i)}`));
  const count = 10 + (Number(present) % 80);
  const tip = commitFiles(origin, [[fileOf(i), manifestOf(i).replace(/numberOfClusters: \d+/, `numberOfClusters: ${count}`)]], before);
  const startedAt = performance.now();
  const seen = decisions.next(`service-${i}`);
  await trigger();
  ours.push((await seen) - startedAt);
  bare.push(await timed(async () => {
    await run(['fetch', '-q', origin, '+refs/heads/main:refs/heads/main'], clone);
    await run(['diff-tree', '-r', before, tip], clone);
  }));
  await new Promise((resolve) => setTimeout(resolve, 150));
}
for (const [name, q] of COMMITS === 0 ? [] : [['median', 0.5], ['p90', 0.9], ['p99', 0.99]])
  console.log(`commit of one file, webhook to decision on the hub, ${name} of ${COMMITS}: ${ms(quantile(ours, q))}; git fetch + git diff-tree: ${ms(quantile(bare, q))}; ratio ${(quantile(ours, q) / quantile(bare, q)).toFixed(2)} (limit 3 and 300 ms)`);
decisions.stop();
await end();

async function end() {
  await serve.stop();
  api.close();
  await hub.stop();
  if (keep === undefined) rmSync(root, { recursive: true, force: true });
  process.exit(0);
}

function start(args) {
  const flags = process.env.BENCH_PROF ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROF}`] : [];
  return startBerth(MAIN, args, flags);
}
/** @param until `ready`: does not wait for the comparison of the hub with Git */
async function startServe(more = [], until = 'compared') {
  const startedAt = performance.now();
  const serve = start(['serve', '--repo', origin, '--ref', 'main', '--kubeconfig', kubeconfig, '--data', join(root, 'serve'), '--embedded', '--no-works', '--kind', '/ConfigMap',
    '--listen', `127.0.0.1:${PORT}`, '--webhook', `generic=${join(root, 'secret')}`, '--poll', '10m', '--removal-budget', '100%', ...more]);
  const last = [];
  const wanted = [];
  let readyMs, syncedMs;
  let published = 0;
  serve.child.once('exit', (code) => wanted.forEach(({ reject }) => reject(new Error(`serve ended with ${code}: ${last.join('\n')}`))));
  createInterface({ input: serve.child.stderr }).on('line', (line) => {
    if (process.env.BENCH_DEBUG) console.error(line);
    last.splice(0, last.length - 19);
    last.push(line);
    if (line.includes('published once')) readyMs ??= performance.now() - startedAt;
    if (line.includes('hub follows the source')) syncedMs ??= performance.now() - startedAt;
    if (line.includes('decision published')) published += 1;
    for (const { is, resolve } of wanted) if (is()) resolve();
  });
  const when = (is) => new Promise((resolve, reject) => (wanted.push({ is, resolve, reject }), is() && resolve()));
  await when(() => readyMs !== undefined && (syncedMs !== undefined || until === 'ready'));
  return { ...serve, readyMs, syncedMs, whenPublished: (count) => when(() => published >= count) };
}
async function whenIdle(quietMs = 5_000) {
  for (let last = await revision(), since = performance.now(); performance.now() - since < quietMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = await revision();
    if (now !== last) [last, since] = [now, performance.now()];
  }
}
function watchDecisions() {
  const waiting = new Map();
  const stop = new AbortController();
  const follow = async () => {
    const { resourceVersion } = await api.list(PLACEMENT_DECISION);
    for await (const event of api.watch(PLACEMENT_DECISION, { resourceVersion, signal: stop.signal })) {
      const placement = event.object?.metadata.labels?.['cluster.open-cluster-management.io/placement'];
      waiting.get(placement)?.(performance.now());
      waiting.delete(placement);
    }
  };
  follow().catch((error) => stop.signal.aborted || console.error(error));
  return { next: (name) => new Promise((resolve) => waiting.set(name, resolve)), stop: () => stop.abort() };
}
async function trigger() {
  const body = JSON.stringify({ repository: `file://${origin}`, ref: 'refs/heads/main' });
  const signature = createHmac('sha256', 'bench').update(body).digest('hex');
  const answer = await fetch(`http://127.0.0.1:${PORT}/webhooks/generic`, { method: 'POST', headers: { 'x-signature-256': `sha256=${signature}` }, body });
  if (answer.status !== 202) throw new Error(`webhook: ${answer.status} ${await answer.text()}`);
}
async function timed(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}
function run(args, gitDir) {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: { ...env, GIT_DIR: gitDir }, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', () => undefined);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`git ${args[0]}: ${code}`))));
  });
}
/** Processor time that a process has used (ms). */
function cpuMs({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
function rss(child) {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
}
