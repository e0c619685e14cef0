// Figures of the embedded hub. Run by hand, on an idle machine:  npm run build:modules && node test/bench/hub.bench.mjs [section ...]
// Sections: writes list objects watches fanout loop. The hub is the built `berth hub` in a process of its own; clients run here, on the same
// cores. Rates are those of a hub that has run for a few seconds: thousands of requests of each sort go before those that are measured.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { work } from './bench-work.mjs';
import { leanClient } from './lean-client.mjs';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const wanted = new Set(process.argv.slice(2));
const selected = (name) => wanted.size === 0 || wanted.has(name);
const CLIENTS = 32;
const results = [];
const report = (what, got, want) => {
  results.push({ what, got, want });
  console.log(`${what.padEnd(64)} ${String(got).padStart(14)}   wanted ${want}`);
};

async function startHub(dataDir) {
  const began = performance.now();
  const words = [MAIN, 'hub', '--data', dataDir, '--listen', '127.0.0.1:0', '--audit', 'off', '--log-level', 'error'];
  // HUB_NODE_FLAGS='--cpu-prof --cpu-prof-dir=DIR' shows where the time goes.
  const flags = (process.env.HUB_NODE_FLAGS ?? '').split(' ').filter(Boolean);
  const child = spawn(process.execPath, [...flags, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kubeconfig = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  const startMs = performance.now() - began;
  const text = readFileSync(kubeconfig, 'utf8');
  const url = /server: "(.*)"/.exec(text)[1];
  const token = /token: (\S+)/.exec(text)[1];
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)[1], 'base64').toString();
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const call = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers = { authorization: `Bearer ${token}` };
      if (bytes) Object.assign(headers, { 'content-type': type, 'content-length': bytes.length });
      const sent = request(`${url}${path}`, { method, ca, agent, headers }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          if (response.statusCode >= 300) reject(new Error(`${method} ${path}: ${response.statusCode} ${Buffer.concat(chunks)}`));
          else resolve(Buffer.concat(chunks));
        });
      });
      sent.on('error', reject);
      sent.end(bytes);
    });
  const fast = () => leanClient({ url, token, ca });
  const stop = () => new Promise((resolve) => (child.once('exit', resolve), child.kill('SIGTERM')));
  return { child, url, token, ca, call, fast, stop, startMs };
}

const memoryMb = (pid, field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const rssMb = (hub) => memoryMb(hub.child.pid, 'VmRSS');

const worksOf = (namespaceName) => `/apis/work.open-cluster-management.io/v1/namespaces/${namespaceName}/manifestworks`;
const WORKS = worksOf('bench');
const namespace = (name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const status = (index) => ({ status: { conditions: [{ type: 'Applied', status: 'True', reason: `R${index}`, message: 'applied', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }] } });

/** CPU time that the hub has used (ms): what an operation costs, however busy the machine is. */
const cpuMs = (hub) => {
  const fields = readFileSync(`/proc/${hub.child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** The rate of `count` operations by all clients together, after `warm` operations of the same sort. */
async function rateAndCost(hub, what, wantedRate, { count, warm, clients, step }) {
  const offset = await rate(warm, clients, (client, index) => step(client, index, 'warm')).then(() => cpuMs(hub));
  report(`${what} (per s)`, await rate(count, clients, step), wantedRate);
  report(`  hub CPU per operation (us)`, Math.round(((cpuMs(hub) - offset) * 1000) / count), '-');
}

/** Every client loops over the numbers below `count` that are left; operations per second. */
async function rate(count, clients, step) {
  let next = 0;
  const began = performance.now();
  const loop = async (client) => {
    while (next < count) await step(client, next++, 'bench');
  };
  await Promise.all(clients.map(loop));
  return Math.round((count * 1000) / (performance.now() - began));
}

async function withHub(action) {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-bench-'));
  try {
    const hub = await startHub(dataDir);
    for (const name of ['bench', 'more', 'warm']) await hub.call('POST', '/api/v1/namespaces', namespace(name));
    await action(hub, dataDir);
    if (hub.child.exitCode === null) await hub.stop();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

if (selected('writes') || selected('list'))
  await withHub(async (hub) => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => hub.fast()));
    // 2,000 works in the namespace that is listed, as many elsewhere.
    const create = (client, index, phase) => client.send('POST', worksOf(phase === 'bench' && index >= 2000 ? 'more' : phase), work(`w${index}`));
    await rateAndCost(hub, 'durable creates of ManifestWorks, 32 clients', '>= 2500', { count: 4000, warm: 3000, clients, step: create });
    const patch = (client, index, phase) => client.send('PATCH', `${worksOf(phase)}/w${index % 2000}/status`, status(Math.floor(index / 2000)), 'application/merge-patch+json');
    await rateAndCost(hub, 'durable status merge patches, 32 clients', '>= 3500', { count: 8000, warm: 3000, clients, step: patch });
    const get = (client, index, phase) => client.send('GET', `${worksOf(phase)}/w${index % 2000}`);
    await rateAndCost(hub, 'gets, 32 clients', '-', { count: 10_000, warm: 3000, clients, step: get });
    for (const client of clients) client.close();
    const times = [];
    let bytes = 0;
    for (let round = 0; round < 15; round += 1) {
      const began = performance.now();
      bytes = (await hub.call('GET', WORKS)).length;
      times.push(performance.now() - began);
    }
    report(`list of 2,000 works, ${(bytes / 1e6).toFixed(1)} MB, median (ms)`, median(times).toFixed(1), '<= 45');
  });

if (selected('objects'))
  await withHub(async (hub, dataDir) => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => hub.fast()));
    await rate(20_000, clients, (client, index) => client.send('POST', WORKS, work(`w${index}`)));
    for (const client of clients) client.close();
    report('20,000 objects just created: RSS (MB)', rssMb(hub).toFixed(0), '-');
    await hub.stop();
    const again = await startHub(dataDir);
    report('20,000 objects: start to serving, log only (ms)', again.startMs.toFixed(0), '<= 1000');
    report('  hub CPU until then (ms)', cpuMs(again), '-');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    report('20,000 objects: RSS after start (MB)', rssMb(again).toFixed(0), '<= 250');
    if (selected('loop')) await loopBlock(again);
    report('20,000 objects: RSS after lists (MB)', rssMb(again).toFixed(0), '-');
    await again.stop();
    execFileSync(process.execPath, [MAIN, 'hub', 'compact', '--data', dataDir]);
    const compacted = await startHub(dataDir);
    report('20,000 objects: start to serving, from a snapshot (ms)', compacted.startMs.toFixed(0), '<= 1000');
    await compacted.stop();
  });

/** While large lists run, small requests must still be answered quickly. */
async function loopBlock(hub) {
  let done = false;
  const waits = [];
  const probe = (async () => {
    const session = connect(hub.url, { ca: hub.ca });
    while (!done) {
      const began = performance.now();
      await new Promise((resolve) => {
        const stream = session.request({ ':path': '/livez' });
        stream.on('data', () => undefined);
        stream.on('end', resolve);
        stream.end();
      });
      waits.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    session.close();
  })();
  // The reader is another process: parsing tens of megabytes here would measure this loop, not the hub's.
  const script = `
    const { request } = require('node:https');
    const list = () => new Promise((resolve) => request(process.argv[1], { ca: process.argv[3], headers: { authorization: 'Bearer ' + process.argv[2] } }, (response) => { let size = 0; response.on('data', (chunk) => (size += chunk.length)); response.on('end', () => resolve(size)); }).end());
    (async () => { for (let round = 0; round < 5; round += 1) await list(); })();`;
  await new Promise((resolve) => spawn(process.execPath, ['-e', script, `${hub.url}${WORKS}`, hub.token, hub.ca], { stdio: 'inherit' }).once('exit', resolve));
  done = true;
  await probe;
  waits.sort((a, b) => a - b);
  report('a probe beside full lists of 20,000 works: p99 wait (ms)', waits[Math.floor(waits.length * 0.99)].toFixed(1), '<= 50');
}

if (selected('watches'))
  await withHub(async (hub) => {
    // A hub that has served before: what its heap grows to once is not the watches'.
    for (const session of await openWatches(hub, 500)) session.destroy();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const before = rssMb(hub);
    const sessions = await openWatches(hub, 3000);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    report('3,000 idle watches on connections of their own: RSS added (MB)', (rssMb(hub) - before).toFixed(0), '<= 200');
    report('  RSS in all (MB)', rssMb(hub).toFixed(0), '-');
    for (const session of sessions) session.destroy();
  });

/** Watches on a connection each, 50 at a time. */
async function openWatches(hub, count) {
  const sessions = [];
  for (let start = 0; start < count; start += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, offset) => {
        const session = connect(hub.url, { ca: hub.ca });
        sessions.push(session);
        return new Promise((resolve, reject) => {
          session.on('error', reject);
          const stream = session.request({ ':path': `/apis/work.open-cluster-management.io/v1/namespaces/cluster${start + offset}/manifestworks?watch=true&resourceVersion=0&allowWatchBookmarks=true`, authorization: `Bearer ${hub.token}` });
          stream.on('response', resolve);
          stream.on('data', () => undefined);
        });
      }),
    );
  }
  return sessions;
}

if (selected('fanout'))
  await withHub(async (hub) => {
    await hub.call('POST', WORKS, work('one'));
    let events = 0;
    let finished;
    const sessions = Array.from({ length: 4 }, () => connect(hub.url, { ca: hub.ca }));
    const UPDATES = 100;
    const WATCHERS = 100;
    await Promise.all(
      Array.from({ length: WATCHERS }, (_, index) =>
        new Promise((resolve) => {
          const stream = sessions[index % sessions.length].request({ ':path': `${WORKS}?watch=true`, authorization: `Bearer ${hub.token}` });
          let first = true;
          stream.on('data', (chunk) => {
            for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) {
              if (first) {
                first = false;
                resolve();
              } else if (++events === UPDATES * WATCHERS) finished();
            }
          });
        }),
      ),
    );
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => hub.fast()));
    const round = async (label) => {
      const all = new Promise((resolve) => (finished = resolve));
      events = 0;
      const began = performance.now();
      await rate(UPDATES, clients, (client, index) => client.send('PATCH', `${WORKS}/one`, { metadata: { labels: { round: `${label}-${index}` } } }, 'application/merge-patch+json'));
      await all;
      return Math.round((UPDATES * WATCHERS * 1000) / (performance.now() - began));
    };
    for (const warm of ['warm1', 'warm2', 'warm3']) await round(warm);
    const rounds = [];
    for (let index = 0; index < 5; index += 1) rounds.push(await round(`r${index}`));
    report('100 updates x 100 watchers, events per s, median of 5', median(rounds), '>= 40000');
    for (const client of clients) client.close();
    for (const session of sessions) session.destroy();
  });

console.log(JSON.stringify(results));
process.exit(0);
