// Pauses hub, controller and agent at random, as a closed laptop or a paused virtual machine does, and asserts that all
// of them recover:  npm run build && npm run soak:pauses -- [--rounds N] [--min-ms N] [--max-ms N] [--every N] [--seed N]
//
// Each round commits a change and stops some of the three processes (SIGSTOP, SIGCONT), each for a time of its own between
// --min-ms and --max-ms. After every --every rounds, and after the last one, the newest commit must be on the cluster and
// reported on the hub within 30 s. That needs all of them: Git -> controller -> hub -> agent -> cluster -> hub.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const RECOVER_WITHIN_MS = 30_000;
const CLUSTER = 'cluster1';
const WORK = `/apis/work.open-cluster-management.io/v1/namespaces/${CLUSTER}/manifestworks/soak`;
const CONFIG_MAP = `/clusters/${CLUSTER}/api/v1/namespaces/default/configmaps/soak`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    'min-ms': { type: 'string', default: '100' },
    'max-ms': { type: 'string', default: '4000' },
    every: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const numberOf = (name) => {
  const number = Number(values[name]);
  if (!(number > 0)) throw new Error(`--${name}: expected a number above 0, got ${JSON.stringify(values[name])}`);
  return number;
};
const [rounds, minMs, maxMs, every] = ['rounds', 'min-ms', 'max-ms', 'every'].map(numberOf);
const random = randomFrom(numberOf('seed'));

/** mulberry32 */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const dir = mkdtempSync(join(tmpdir(), 'berth-pauses-'));
const repository = join(dir, 'repository');
const git = (...words) => execFileSync('git', ['-C', repository, ...words], { stdio: 'pipe' });

function commit(round) {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CLUSTER } };
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'soak', namespace: 'default' },
    data: { round: String(round) },
  };
  const work = {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'soak', namespace: CLUSTER },
    spec: { workload: { manifests: [configMap] } },
  };
  // JSON is YAML.
  writeFileSync(join(repository, 'fleet.yaml'), [namespace, work].map((object) => JSON.stringify(object)).join('\n---\n'));
  git('add', '-A');
  git('commit', '-qm', `round ${round}`);
}

const running = new Map();
function start(name, words) {
  const child = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const process_ = { child, log: '', out: '' };
  child.stderr.on('data', (chunk) => (process_.log += chunk));
  child.stdout.on('data', (chunk) => (process_.out += chunk));
  running.set(name, process_);
  return process_;
}

async function until(what, isTrue, withinMs) {
  const beganAt = Date.now();
  while (!(await isTrue().catch(() => false))) {
    if (Date.now() - beganAt > withinMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await sleep(100);
  }
  return Date.now() - beganAt;
}

/** A reader of the hub that opens a connection for each request, so that none is left from before a pause. */
function readerOf(kubeconfig) {
  const text = readFileSync(kubeconfig, 'utf8');
  const url = /server: "(.*)"/.exec(text)[1];
  const token = /token: (\S+)/.exec(text)[1];
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)[1], 'base64').toString();
  return (path) =>
    new Promise((resolve, reject) => {
      const options = { ca, agent: false, timeout: 5_000, headers: { authorization: `Bearer ${token}` } };
      const sent = request(`${url}${path}`, options, (response) => {
        let body = '';
        response.on('data', (chunk) => (body += chunk));
        response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(body)) : reject(new Error(body))));
      });
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      sent.on('error', reject);
      sent.end();
    });
}

async function hasArrived(read, round) {
  if ((await read(CONFIG_MAP)).data.round !== String(round)) return false;
  const { metadata, spec, status } = await read(WORK);
  const applied = status?.conditions?.find(({ type }) => type === 'Applied');
  const isNewest = spec.workload.manifests[0].data.round === String(round);
  return isNewest && applied?.status === 'True' && applied.observedGeneration === metadata.generation;
}

/** Stops some of the processes, at least one, each after and for a random time. */
async function pauseSome() {
  const all = [...running.values()];
  const chosen = all.filter(() => random() < 0.5);
  const targets = chosen.length > 0 ? chosen : [all[Math.floor(random() * all.length)]];
  const plans = targets.map((target) => ({
    target,
    afterMs: random() * 500,
    forMs: minMs * (maxMs / minMs) ** random(),
  }));
  await Promise.all(
    plans.map(async ({ target, afterMs, forMs }) => {
      await sleep(afterMs);
      target.child.kill('SIGSTOP');
      await sleep(forMs);
      target.child.kill('SIGCONT');
    }),
  );
}

async function run() {
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'soak@example.org');
  git('config', 'user.name', 'Soak');
  commit(0);
  const hub = start('hub', ['hub', '--data', join(dir, 'hub'), '--listen', '127.0.0.1:0', '--members', CLUSTER]);
  await until('the hub listens', async () => hub.out.includes('\n'), 60_000);
  const kubeconfig = hub.out.trim();
  const member = kubeconfig.replace('admin.kubeconfig', `admin-${CLUSTER}.kubeconfig`);
  const serve = ['--repo', repository, '--data', join(dir, 'data'), '--embedded', '--poll', '1s'];
  start('controller', ['serve', ...serve, '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0']);
  start('agent', ['agent', '--hub-kubeconfig', kubeconfig, '--kubeconfig', member, '--cluster-name', CLUSTER]);
  const read = readerOf(kubeconfig);
  await until('the first commit arrives', () => hasArrived(read, 0), 120_000);
  let slowestMs = 0;
  for (let round = 1; round <= rounds; round++) {
    commit(round);
    await pauseSome();
    for (const [name, { child }] of running)
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended in round ${round}`);
    if (round % every !== 0 && round !== rounds) continue;
    const tookMs = await until(`round ${round} arrives`, () => hasArrived(read, round), RECOVER_WITHIN_MS);
    slowestMs = Math.max(slowestMs, tookMs);
    console.log(`round ${round}: recovered in ${tookMs} ms`);
  }
  console.log(`${rounds} rounds: the slowest recovery took ${slowestMs} ms`);
}

console.log(`pauses of ${minMs} to ${maxMs} ms, seed ${values.seed}`);
try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  for (const [name, { log }] of running) console.error(`--- ${name}\n${log.slice(-4000)}`);
  process.exitCode = 1;
} finally {
  for (const { child } of running.values()) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
}
