// Two builds of the embedded hub side by side: the same requests go to each in turns, so that whatever else the machine does meets both.
//   npm run build:modules && node test/bench/hub-pair.bench.mjs OTHER_CHECKOUT [CREATES]
// OTHER_CHECKOUT is a built worktree of the version to compare with. Prints the processor time of both hubs per request, and the ratio.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leanClient } from './lean-client.mjs';
import { work } from './bench-work.mjs';

const [other, creates = '16000'] = process.argv.slice(2);
const roots = { before: other, now: join(import.meta.dirname, '../..') };
const CLIENTS = 16;
const BATCH = 250;
const WARM_UP = 3_000;
const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } };
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/bench/manifestworks';

async function startHub(root) {
  const data = mkdtempSync(join(tmpdir(), 'berth-pair-'));
  const words = ['hub', '--data', data, '--listen', '127.0.0.1:0', '--audit', 'off', '--log-level', 'error'];
  const child = spawn(process.execPath, [join(root, 'dist/src/app/cli/main.js'), ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kubeconfig = readFileSync(await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))), 'utf8');
  const valueOf = (key) => new RegExp(`${key}: "?([^\\s"]+)`).exec(kubeconfig)[1];
  const ca = Buffer.from(valueOf('certificate-authority-data'), 'base64').toString();
  const at = { ca, url: valueOf('server'), token: valueOf('token') };
  return { child, data, clients: await Promise.all(Array.from({ length: CLIENTS }, async () => (await leanClient(at)).send)) };
}

const status = (at) => ({ status: { conditions: [{ type: 'Applied', status: 'True', reason: `R${at}`, message: 'applied', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }] } });

const requests = {
  create: { count: Number(creates), send: (call, at) => call('POST', WORKS, work(`w${at}`)) },
  'status patch': { count: 10_000, send: (call, at) => call('PATCH', `${WORKS}/w${at % 2000}/status`, status(at), 'application/merge-patch+json') },
  get: { count: 20_000, send: (call, at) => call('GET', `${WORKS}/w${at % 2000}`) },
};

/** Processor time that the hub has used (ms). */
function cpuMs({ child }) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function batch(hub, from, send) {
  let next = from;
  const loop = async (call) => {
    while (next < from + BATCH) await send(call, next++);
  };
  await Promise.all(hub.clients.map(loop));
}

const hubs = { before: await startHub(roots.before), now: await startHub(roots.now) };
try {
  for (const hub of Object.values(hubs)) await hub.clients[0]('POST', '/api/v1/namespaces', NAMESPACE);
  for (const [name, { count, send }] of Object.entries(requests)) {
    const used = { before: 0, now: 0 };
    for (let at = 0; at < WARM_UP + count; at += BATCH)
      for (const which of (at / BATCH) % 2 === 0 ? ['now', 'before'] : ['before', 'now']) {
        const startMs = cpuMs(hubs[which]);
        await batch(hubs[which], at, send);
        if (at >= WARM_UP) used[which] += cpuMs(hubs[which]) - startMs;
      }
    const us = (which) => ((used[which] * 1000) / count).toFixed(0);
    console.log(`${name}: before ${us('before')} us, now ${us('now')} us, ratio ${(used.now / used.before).toFixed(3)}`);
  }
} finally {
  for (const { child, data } of Object.values(hubs)) {
    child.kill('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  }
}
process.exit(0);
