// An embedded hub while a user without rights attacks it in all ways at once (test/e2e/hub-attacker.mjs):
//   npm run build:modules && node test/bench/hub-under-attack.bench.mjs [SECONDS]
// Asks /readyz and, as an administrator, for a list every 100 ms and reads the hub's memory. Aims: every answer within 1 s, at most 1 GiB.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstLine } from './berth-child.mjs';

const seconds = Number(process.argv[2] ?? 60);
const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const ATTACKER = join(import.meta.dirname, '../e2e/hub-attacker.mjs');
const dataDir = mkdtempSync(join(tmpdir(), 'berth-attack-'));
const field = (text, name) => new RegExp(`${name}: "?([^\\s"]+)`).exec(text)[1];

const words = [MAIN, 'hub', '--data', dataDir, '--listen', '127.0.0.1:0', '--log-level', 'error'];
const hub = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
const admin = readFileSync(await firstLine({ child: hub }), 'utf8');
const mallory = execFileSync(process.execPath, [MAIN, 'hub', 'kubeconfig', '--data', dataDir, '--user', 'mallory'], { encoding: 'utf8' });
const url = field(admin, 'server');
const caFile = join(dataDir, 'attack-ca.pem');
writeFileSync(caFile, Buffer.from(field(admin, 'certificate-authority-data'), 'base64'));

const agent = new Agent({ keepAlive: true });
const ask = (path, headers = {}) =>
  new Promise((resolve) => {
    const began = performance.now();
    const done = (status) => resolve({ status, ms: performance.now() - began });
    const sent = request(`${url}${path}`, { agent, ca: readFileSync(caFile), servername: 'localhost', headers }, (response) =>
      response.on('end', () => done(response.statusCode)).on('error', () => done(0)).resume(),
    );
    sent.setTimeout(30_000, () => sent.destroy());
    sent.on('error', () => done(0));
    sent.end();
  });
const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))[1]) / 1024;

async function measure(what, forSeconds) {
  const probes = { '/readyz': {}, '/api/v1/namespaces': { authorization: `Bearer ${field(admin, 'token')}` } };
  const seen = Object.fromEntries(Object.keys(probes).map((path) => [path, []]));
  let mostMb = 0;
  const end = performance.now() + forSeconds * 1000;
  const asking = Object.entries(probes).map(async ([path, headers]) => {
    while (performance.now() < end) {
      seen[path].push(await ask(path, headers));
      mostMb = Math.max(mostMb, rssMb());
      await sleep(100);
    }
  });
  await Promise.all(asking);
  for (const [path, answers] of Object.entries(seen)) {
    const sorted = answers.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(0);
    const bad = answers.filter(({ status }) => status !== 200).length;
    console.log(`${what} ${path}: ${sorted.length} asked, ${bad} without 200, median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`);
  }
  console.log(`${what} memory: at most ${mostMb.toFixed(0)} MiB`);
}

try {
  await measure('quiet', 5);
  const attacker = spawn(process.execPath, [ATTACKER, url, caFile, field(mallory, 'token')], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  attacker.stdout.on('data', (chunk) => (said += chunk));
  while (!said.includes('ready')) await sleep(100);
  await measure('attacked', seconds);
  const ended = new Promise((resolve) => attacker.once('exit', resolve));
  attacker.kill('SIGTERM');
  await ended;
  console.log(said.replace('ready\n', ''));
  await measure('after', 5);
} finally {
  hub.kill('SIGKILL');
  agent.destroy();
  rmSync(dataDir, { recursive: true, force: true });
}
