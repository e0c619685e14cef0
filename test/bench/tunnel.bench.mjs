// How fast the tunnel carries bytes and small requests, beside a direct connection and konnectivity's programs in the same run:
//   npm run -s build:modules && node test/bench/tunnel.bench.mjs [MIB]
//   node test/bench/tunnel.bench.mjs idle [TUNNELS=1000]      memory and processor time of a server with idle tunnels (Linux)
// Client, server, agent and target are processes of their own. Konnectivity's are those of $BERTH_PEERS; without them it is left out.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { request } from 'node:https';
import net from 'node:net';
import { homedir, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CertificateAuthority } from '../../.cache/modules/packages/kube/src/x509/certificate-authority.js';
import { createAuthority } from '../../.cache/modules/packages/kube/src/x509/self-signed-authority.js';
import { systemClock as clock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { SILENT_LOG as log } from '../../.cache/modules/packages/runtime/src/logger.js';
import { startTunnelAgent } from '../../.cache/modules/packages/tunnel/src/agent/tunnel-agent.js';
import { startTunnelServer } from '../../.cache/modules/packages/tunnel/src/server/tunnel-server.js';
import { sendMebibytes } from './bench-work.mjs';

const MIB = 1024 * 1024;
const SMALL = 2_000;
const peers = process.env.BERTH_PEERS ?? join(homedir(), '.cache/berth-peers/bin');
const [role = '256', folder = '', port = ''] = process.argv.slice(2);
const tlsIn = (from, name) =>
  Object.fromEntries(['ca', 'cert', 'key'].map((part) => [part, readFileSync(join(from, `${name}.${part}`), 'utf8')]));

if (role === 'target') runTarget();
else if (role === 'server') await runServer();
else if (role === 'agent') runAgent();
else if (role === 'idle') await measureIdle(Number(folder || 1_000));
else await measure(Number(role));

/** `/N`: so many MiB. */
function runTarget() {
  const server = createServer((asked, response) => {
    const count = Number(asked.url.slice(1));
    if (count === 0) response.end('ok');
    else sendMebibytes(response, count);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

async function runServer() {
  const tls = tlsIn(folder, 'server');
  const at = { host: '127.0.0.1', port: 0, tls };
  const server = await startTunnelServer({
    agents: { ...at, clusterOf: () => 'localhost' },
    dialers: { ...at, targetOf: (address) => ({ cluster: 'localhost', address }) },
    ...{ clock, log },
  });
  console.log(`${server.agentAddress.split(':')[1]} ${server.dialerAddress.split(':')[1]}`);
}

function runAgent() {
  const tls = tlsIn(folder, 'client');
  startTunnelAgent({
    server: { host: '127.0.0.1', port: Number(port) },
    ...{ tls: () => tls, hosts: ['localhost'], clock, random: Math.random, log, signal: new AbortController().signal },
    resolve: (address) => ({ host: '127.0.0.1', port: Number(address.split(':')[1]) }),
    onChange: () => console.log('open'),
  });
}

async function measureIdle(tunnels) {
  const work = mkdtempSync(join(tmpdir(), 'berth-tunnel-bench-'));
  await writeCertificates(work);
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'server', work], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [agentPort] = String((await once(child.stdout, 'data'))[0]).split(' ');
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1_024;
  const before = memory();
  const tls = tlsIn(work, 'client');
  const options = { server: { host: '127.0.0.1', port: Number(agentPort) }, tls: () => tls, hosts: [], resolve: () => undefined };
  const shared = { clock, random: Math.random, log, signal: new AbortController().signal };
  for (let open = 0; open < tunnels; open += 50)
    await Promise.all(
      Array.from({ length: 50 }, () => new Promise((onChange) => startTunnelAgent({ ...options, ...shared, onChange }))),
    );
  const ticks = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ').slice(13, 15).reduce((sum, one) => sum + Number(one), 0);
  await new Promise((done) => setTimeout(done, 5_000));
  const from = ticks();
  await new Promise((done) => setTimeout(done, 40_000));
  const share = ((ticks() - from) / 100 / 40) * 100;
  console.log(`${tunnels} idle tunnels: server ${Math.round(memory())} MB, ${Math.round(before)} MB before; ${share.toFixed(1)} % of a core`);
  child.kill('SIGKILL');
  rmSync(work, { recursive: true });
  process.exit();
}

async function measure(mib) {
  const work = mkdtempSync(join(tmpdir(), 'berth-tunnel-bench-'));
  const children = [];
  const start = async (program, args, isReady = (text) => text.includes('\n')) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let text = '';
    child.stderr.resume();
    while (!isReady(text)) text += String((await once(child.stdout, 'data'))[0]);
    return text.trim();
  };
  const self = (...args) => start(process.execPath, [fileURLToPath(import.meta.url), ...args]);
  try {
    await writeCertificates(work);
    const target = await self('target');
    const [agentPort, dialerPort] = (await self('server', work)).split(' ');
    await self('agent', work, agentPort);
    console.log(`load ${loadavg()[0].toFixed(1)}, ${mib} MiB in one connection, ${SMALL} small requests in one, each 3 times`);
    const ways = [
      ['direct', () => connectDirectly(target)],
      ['Berth', () => connect(dialerPort, target, work)],
    ];
    if (existsSync(join(peers, 'tunnel/proxy-server')))
      ways.push(['konnectivity', await konnectivity(work, target, start, children)]);
    for (let round = 1; round <= 3; round += 1)
      for (const [name, open] of ways) {
        const bulk = await timed(async () => read(await open(), `/${mib}`));
        const socket = await open();
        const times = [];
        for (let at = 0; at < SMALL; at += 1) times.push(await timed(() => read(socket, '/0', true)));
        socket.destroy();
        times.sort((a, b) => a - b);
        const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)].toFixed(2));
        const rate = Math.round((SMALL * 1_000) / times.reduce((sum, one) => sum + one, 0));
        console.log(`${name.padEnd(13)} ${Math.round((mib * 1_000) / bulk)} MiB/s, ${rate} requests/s, p50 ${p50} ms, p99 ${p99} ms`);
      }
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(work, { recursive: true });
  }
}

async function writeCertificates(work) {
  const pair = createAuthority('bench', Date.now());
  const authority = new CertificateAuthority(pair);
  const serving = await authority.issueServing(['127.0.0.1', 'localhost'], Date.now(), 86_400_000);
  const client = await authority.issueClient({ commonName: 'client', organizations: [] }, Date.now(), 86_400_000);
  for (const [name, { certPem, keyPem }] of Object.entries({ server: serving, client }))
    for (const [part, text] of Object.entries({ ca: pair.certPem, cert: certPem, key: keyPem }))
      writeFileSync(join(work, `${name}.${part}`), text);
}

async function konnectivity(work, target, start, children) {
  const ports = await Promise.all([1, 2, 3, 4, 5, 6].map(freePort));
  const files = (name, [ca, cert, key]) => [`${ca}=${work}/${name}.ca`, `${cert}=${work}/${name}.cert`, `${key}=${work}/${name}.key`];
  const run = (name, args) => children.push(spawn(join(peers, 'tunnel', name), args, { stdio: 'ignore' }));
  run('proxy-server', [
    ...['--mode=http-connect', '--server-bind-address=127.0.0.1', `--server-port=${ports[0]}`, '--proxy-strategies=destHost'],
    ...['--agent-bind-address=127.0.0.1', `--agent-port=${ports[1]}`, '--health-bind-address=127.0.0.1'],
    ...[`--health-port=${ports[2]}`, `--admin-port=${ports[3]}`],
    ...files('server', ['--server-ca-cert', '--server-cert', '--server-key']),
    ...files('server', ['--cluster-ca-cert', '--cluster-cert', '--cluster-key']),
  ]);
  run('proxy-agent', [
    ...['--proxy-server-host=127.0.0.1', `--proxy-server-port=${ports[1]}`, '--agent-identifiers=host=localhost'],
    ...['--health-server-host=127.0.0.1', `--health-server-port=${ports[4]}`, `--admin-server-port=${ports[5]}`],
    ...files('client', ['--ca-cert', '--agent-cert', '--agent-key']),
  ]);
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      (await connect(ports[0], target, work)).destroy();
      break;
    } catch {
      await new Promise((done) => setTimeout(done, 200));
    }
  }
  return () => connect(ports[0], target, work);
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address();
  await new Promise((done) => server.close(done));
  return free;
}

async function connectDirectly(target) {
  const socket = net.connect({ host: '127.0.0.1', port: Number(target), noDelay: true });
  await once(socket, 'connect');
  return socket;
}

async function connect(proxyPort, target, work) {
  const path = `localhost:${target}`;
  const asked = request({ host: '127.0.0.1', port: proxyPort, method: 'CONNECT', path, ...tlsIn(work, 'client') });
  asked.end();
  const [response, socket] = await once(asked, 'connect');
  if (response.statusCode !== 200) throw new Error(`CONNECT: ${response.statusCode}`);
  return socket;
}

async function read(socket, path, keep = false) {
  const headers = { connection: keep ? 'keep-alive' : 'close' };
  const asked = httpRequest({ createConnection: () => socket, path, headers });
  asked.end();
  const [response] = await once(asked, 'response');
  response.resume();
  await once(response, 'end');
  if (!keep) socket.destroy();
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
