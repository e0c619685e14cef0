/**
 * From the delivery of a webhook to the comment: `berth serve` beside `berth hub`, both as they are built, and a real Gitea where its program is there (else a
 * fake of its API). One pull request after the other, then 50 at once.
 * Usage: npm run build:modules && node test/bench/previews-served.bench.mjs [CLUSTERS [PLACEMENTS [FILES [SETS]]]]
 * BENCH_DIR keeps hub and repository between runs; BENCH_SINGLE and BENCH_MANY say how many pull requests (20 and 50).
 * BENCH_BERTH is another built checkout to measure. BENCH_PROFILE is a folder for profiles of hub and controller. BENCH_COMMITS=5 also times so many
 * commits on main, from the push to the decision: first alone, then while the pull requests that were opened at once are planned.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLine, startBerth } from './berth-child.mjs';
import { PreviewsRepository } from './gen-previews.mjs';
import { commitFiles } from './gen-repository.mjs';

register('./real-hub/typescript-hook.mjs', import.meta.url);
const { GiteaFake } = await import('../../packages/forge/test/fakes/forges/gitea-fake.ts');
const { hasGiteaModule, startGitea } = await import('../interop/peers/gitea.ts');
const { hasPeers } = await import('../interop/peers/peer-programs.ts');
const { freePort } = await import('../interop/peers/free-port.ts');

const [clusters, placements, files, sets] = [10_000, 1_000, 20_000, 500].map((size, at) => Number(process.argv[at + 2] ?? size));
const [SINGLE, MANY] = [Number(process.env.BENCH_SINGLE ?? 20), Number(process.env.BENCH_MANY ?? 50)];
const SECRET = 'a-secret-of-this-bench';
const CHECKOUT = process.env.BENCH_BERTH ?? new URL('../..', import.meta.url).pathname;
const MAIN = join(CHECKOUT, 'dist/src/app/cli/main.js');
const root = process.env.BENCH_DIR ?? mkdtempSync(join(tmpdir(), 'berth-previews-'));
const origin = join(root, 'origin.git');
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(list.length * q) - 1)];

mkdirSync(root, { recursive: true });
const fleet = new PreviewsRepository({ clusters, placements, files, sets });
if (!existsSync(origin)) fleet.write(origin);
let base = execFileSync('git', ['--git-dir', origin, 'rev-parse', 'refs/heads/main'], { encoding: 'utf8' }).trim();

const COMMITS = Number(process.env.BENCH_COMMITS ?? 0);
/** When a decision of a placement was published last, by its name. */
const publishedAt = new Map();
/** KiB. */
let largestPlanner = 0;
/** Clock ticks of processor time of each process that plans, by its id. */
const plannerTicks = new Map();
const TICKS_PER_SECOND = 100;
/** When its first delivery came in, by number of the pull request. */
const delivered = new Map();
const forge = process.env.BENCH_FAKE === undefined && hasPeers('gitea') && hasGiteaModule() ? await realForge() : await fakeForge();
console.log(`${clusters} clusters x ${placements} placements x ${files} files x ${sets} ApplicationSets, forge: ${forge.name}, Node.js ${process.version}`);

const hub = start(['hub', '--data', join(root, 'hub'), '--listen', '127.0.0.1:0']);
const kubeconfig = await firstLine(hub);
const port = await freePort();
writeFileSync(join(root, 'secret'), SECRET);
writeFileSync(join(root, 'token'), forge.token);
writeFileSync(join(root, 'sources.yaml'), JSON.stringify({ sources: [{ name: 'fleet', url: forge.url, ref: { branch: 'main' }, removalBudget: '100%', kinds: ['/ConfigMap'], ...forge.source }] }));
const planned = [];
const serve = start(['serve', '--config', join(root, 'sources.yaml'), '--data', join(root, 'serve'), '--kubeconfig', kubeconfig, '--embedded', '--no-works', '--listen', `127.0.0.1:${port}`, '--webhook', `gitea=${join(root, 'secret')}`, '--poll', '10m']);
await following(serve);
console.log(`the hub follows the repository after ${seconds(performance.now() - serve.startedAt)}`);
await pause(Number(process.env.BENCH_REST_MS ?? 10_000));

let next = 11;
const single = [];
/** Seconds of processor time for each pull request: in the processes that plan, in the controller, and in the hub. */
const spent = [];
for (let i = 0; i < SINGLE; i++) {
  const before = processorSeconds();
  single.push(await commentedAfter(await openOne(), 20));
  spent.push(processorSeconds().map((seconds, at) => seconds - before[at]));
}
if (SINGLE > 0) {
  const texts = (at) => spent.map((one) => one[at].toFixed(2)).join(', ');
  console.log(`processor seconds of each plan: ${texts(0)} (aim 1 s after the first)\n  of the controller meanwhile: ${texts(1)}\n  of the hub meanwhile: ${texts(2)}`);
}
if (SINGLE > 0) report(`one after the other, ${SINGLE}`, single);
if (MANY > 0) {
  planned.length = 0;
  const alone = await timeCommits(1);
  const before = processorSeconds();
  const branches = Array.from({ length: MANY }, () => branch());
  await forge.push(branches);
  const startedAt = performance.now();
  const numbers = await Promise.all(branches.map((name) => forge.open(name)));
  // Questions every 20 ms from all of them would be most of the work of the forge.
  const opened = performance.now() - startedAt;
  const beside = timeCommits(2);
  const times = await Promise.all(numbers.map((number) => commentedAfter(number, 500)));
  if (COMMITS > 0) console.log(`commit to decision: alone ${alone.join(', ')} ms; beside these plans ${(await beside).join(', ')} ms`);
  report(`${MANY} at once`, times);
  const [plans, controller, atHub] = processorSeconds().map((all, at) => (all - before[at]).toFixed(1));
  console.log(`  all opened after ${seconds(opened)}; from the first request to the last comment ${seconds(performance.now() - startedAt)} (aim 60 s); processor seconds: plans ${plans}, controller ${controller}, hub ${atHub}`);
}
console.log(`  memory at most: controller ${peak(serve.child.pid)} MiB, one that plans ${Math.round(largestPlanner / 1024)} MiB`);
await serve.stop();
await hub.stop();
await forge.stop();
if (process.env.BENCH_DIR === undefined) rmSync(root, { recursive: true, force: true });
process.exit(0);

function report(name, times) {
  const plans = planned.map(({ plannedMs }) => plannedMs);
  console.log(`${name}: delivery to comment median ${seconds(quantile(times, 0.5))}, p95 ${seconds(quantile(times, 0.95))} (aim 5 s), most ${seconds(Math.max(...times))}`);
  if (plans.length > 0) console.log(`  of it planning: median ${seconds(quantile(plans, 0.5))}, p95 ${seconds(quantile(plans, 0.95))} (aim 1 s)`);
}

/** A branch that edits one placement. @returns its name */
function branch() {
  const number = next++ % placements;
  const name = `change-${number}`;
  const tip = commitFiles(origin, [fleet.placementFile(number, 2)], base);
  execFileSync('git', ['--git-dir', origin, 'branch', '-f', name, tip]);
  execFileSync('git', ['--git-dir', origin, 'update-ref', 'refs/heads/main', base]);
  return name;
}

/** Commits that ask for more clusters for one placement each, a second apart. @returns milliseconds of each from the push to the published decision */
async function timeCommits(more) {
  const times = [];
  for (let at = 0; at < COMMITS; at++) {
    const number = 501 + at;
    base = commitFiles(origin, [fleet.placementFile(number, more)], base);
    const startedAt = performance.now();
    await forge.pushMain();
    while (!(publishedAt.get(`app-${number}`) >= startedAt)) await pause(5);
    times.push(Math.round(publishedAt.get(`app-${number}`) - startedAt));
    await pause(1_000);
  }
  return times;
}

async function openOne() {
  const name = branch();
  await forge.push([name]);
  return forge.open(name);
}

/** @returns milliseconds from its first delivery until its comment can be read */
async function commentedAfter(number, pollMs) {
  while (!(await forge.isCommented(number))) await pause(pollMs);
  return performance.now() - delivered.get(number);
}

async function fakeForge() {
  const fake = new GiteaFake();
  fake.repositoryUrl = `file://${origin}`;
  const apiUrl = await fake.start();
  const known = new Set();
  return {
    name: "a fake of Gitea's API",
    url: `file://${origin}`,
    token: 'a-token',
    source: { preview: { provider: 'gitea', apiUrl, repository: 'team/fleet', credentials: { tokenFile: 'token' } } },
    push: async () => undefined,
    pushMain: () => fetch(`http://127.0.0.1:${port}/webhooks/gitea`, fake.delivery('push', { ref: 'refs/heads/main' }, SECRET)),
    async open(name) {
      const number = fake.pulls.size + 1;
      const head = execFileSync('git', ['--git-dir', origin, 'rev-parse', name], { encoding: 'utf8' }).trim();
      fake.pulls.set(number, { number, head });
      delivered.set(number, performance.now());
      await fetch(`http://127.0.0.1:${port}/webhooks/gitea`, fake.pullDelivery(number, 'opened', SECRET));
      return number;
    },
    isCommented: async (number) => {
      for (const comment of fake.comments.splice(0)) known.add(comment.number);
      return known.has(number);
    },
    stop: () => fake.close(),
  };
}

/** Its deliveries pass through here, so that their time is known. */
async function realForge() {
  const gitea = await startGitea(mkdtempSync(join(root, 'gitea-')));
  const token = gitea.user('berth');
  await gitea.call('POST', '/user/repos', { name: 'fleet', default_branch: 'main' });
  await gitea.call('PUT', '/repos/root/fleet/collaborators/berth', { permission: 'admin' });
  const remote = new URL(`${gitea.url}/root/fleet.git`);
  [remote.username, remote.password] = ['root', 'A-root-1234567'];
  const push = (names) => execFileSync('git', ['--git-dir', origin, 'push', '-q', '--force', remote.href, ...names.map((name) => `${name}:${name}`)]);
  push(['main']);
  const relay = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk)).on('end', async () => {
      const body = Buffer.concat(chunks);
      const { number, pull_request: pull } = JSON.parse(body.toString());
      if (pull !== undefined && !delivered.has(number)) delivered.set(number, performance.now());
      const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => /^(x-|content-type)/.test(name)));
      const passedOn = fetch(`http://127.0.0.1:${port}${request.url}`, { method: 'POST', headers, body });
      // A push before the controller listens.
      response.writeHead(await passedOn.then(({ status }) => status, () => 503)).end();
    });
  });
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const hook = { url: `http://127.0.0.1:${relay.address().port}/webhooks/gitea`, content_type: 'json', secret: SECRET };
  await gitea.call('POST', '/repos/root/fleet/hooks', { type: 'gitea', active: true, config: hook, events: ['push', 'pull_request', 'pull_request_sync'] });
  return {
    name: 'Gitea',
    url: `${gitea.url}/root/fleet.git`,
    token,
    source: { credentials: { tokenFile: 'token' }, preview: { provider: 'gitea' } },
    push: async (names) => push(names),
    pushMain: async () => push(['main']),
    open: async (name) => (await gitea.call('POST', '/repos/root/fleet/pulls', { head: name, base: 'main', title: name })).number,
    isCommented: async (number) => (await gitea.call('GET', `/repos/root/fleet/issues/${number}/comments`)).length > 0,
    async stop() {
      relay.closeAllConnections();
      relay.close();
      await gitea.stop();
    },
  };
}

function start(args) {
  const profile = process.env.BENCH_PROFILE;
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${args[0]}.cpuprofile`];
  return startBerth(MAIN, args, ['--max-semi-space-size=64', ...flags]);
}

/** Of the processes that plan, of the controller and of the hub. */
function processorSeconds() {
  return [plannerSeconds(serve.child.pid), ...[serve, hub].map(({ child }) => ticksOf(child.pid) / TICKS_PER_SECOND)];
}

/** Waits until the hub follows the repository (after a restart with nothing to write: until it is ready); from then on the plans are read from the log. */
async function following({ child }) {
  let text = '';
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      if (process.env.BENCH_DEBUG) process.stderr.write(chunk);
      const lines = (text + chunk).split('\n');
      text = lines.pop();
      for (const line of lines) {
        if (line.includes('hub follows the source')) resolve();
        const found = /pull request was planned.*plannedMs"?[:=](\d+)/.exec(line);
        if (found !== null) planned.push({ plannedMs: Number(found[1]) });
        const placement = /"placement":"[^"]*\/([^"]*)".*"msg":"decision published"/.exec(line)?.[1];
        if (placement !== undefined) publishedAt.set(placement, performance.now());
      }
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${text}`)));
    const look = setInterval(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      if (answer?.ok !== true) return;
      clearInterval(look);
      resolve();
    }, 500);
  });
  setInterval(() => watchPlanners(child.pid), 100).unref();
}

function watchPlanners(controller) {
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      if (Number(/PPid:\s+(\d+)/.exec(status)?.[1]) !== controller) continue;
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('plan-process')) continue;
      plannerTicks.set(pid, plannerTicks.get(pid) ?? 0);
      plannerTicks.set(pid, ticksOf(pid));
      largestPlanner = Math.max(largestPlanner, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // It has ended.
    }
  }
}

/** Of the processes that plan now, and of those that have ended. */
function plannerSeconds(controller) {
  watchPlanners(controller);
  return [...plannerTicks.values()].reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** Clock ticks of a process and of its ended children. */
function ticksOf(pid) {
  const [user, system, ofChildren, systemOfChildren] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 15).map(Number);
  const isPlanner = plannerTicks.has(String(pid));
  return user + system + (isPlanner ? ofChildren + systemOfChildren : 0);
}

function peak(pid) {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
}
