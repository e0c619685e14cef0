// How fast clusters are reached through the hub, beside the same API server asked directly in the same run:
//   npm run -s build:modules && node test/bench/access.bench.mjs watches [WATCHES=500] [CLUSTERS=5]
//   node test/bench/access.bench.mjs gateways [MIB=256]
// API server, user server with the tunnel, agents and gateway are processes of their own. The API server of all clusters is one process
// that serves bytes over TLS, so that what is measured is the way to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sendMebibytes } from './bench-work.mjs';

const load = (path) => import(`../../.cache/modules/packages/${path}.js`);
const { systemClock: clock } = await load('runtime/src/clock/system-clock');
const { SILENT_LOG: log } = await load('runtime/src/logger');
const MIB = 1024 * 1024;
const SMALL = 2_000;
const LOOPBACK = { host: '127.0.0.1', port: 0 };
const [role, ...args] = process.argv.slice(2);
const tlsIn = (folder, name) =>
  Object.fromEntries(['ca', 'cert', 'key'].map((part) => [part, readFileSync(join(folder, `${name}.${part}`), 'utf8')]));
/** Comparable between processes of one machine. */
const now = () => performance.timeOrigin + performance.now();

const ROLES = { api: runApi, server: runServer, agents: runAgents, gateway: runGateway };
if (role === 'watches') await measureWatches(Number(args[0] ?? 500), Number(args[1] ?? 5));
else if (role === 'gateways') await measureGateway(Number(args[0] ?? 256));
else await ROLES[role](...args);

/** `/small`, `/bulk/MIB`, and `/watch`, which says each second what time it is. */
function runApi(folder) {
  const server = https.createServer(tlsIn(folder, 'server'), (asked, response) => {
    const [, kind, size] = asked.url.split('/');
    if (kind === 'small') return void response.end('ok');
    if (kind === 'watch') {
      response.flushHeaders();
      const say = () => response.write(`${now()}\n`);
      const timers = [setTimeout(() => timers.push(setInterval(say, 1_000)), Math.random() * 1_000)];
      response.once('close', () => timers.forEach(clearInterval));
      return;
    }
    sendMebibytes(response, Number(size));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

async function runServer(folder) {
  const { startTunnelServer } = await load('tunnel/src/server/tunnel-server');
  const { startUserServer } = await load('access/src/server/user-server');
  const tls = tlsIn(folder, 'server');
  const clusterOf = ({ subject }) => subject.replace('CN=', '');
  const tunnel = await startTunnelServer({ agents: { ...LOOPBACK, tls, clusterOf }, clock, log });
  const users = await startUserServer({
    ...{ ...LOOPBACK, tls, tunnel, clock, log },
    // The gateway's token is none of the hub.
    callers: { identify: async (token) => (token === 'alice' ? { username: 'alice', groups: ['dev'] } : undefined) },
    clusters: { problemWith: async () => undefined },
    services: { list: async () => [] },
  });
  console.log(`${tunnel.agentAddress.split(':')[1]} ${users.url.split(':')[2]}`);
}

async function runAgents(folder, agentPort, apiPort, clusters) {
  const { startTunnelAgent } = await load('tunnel/src/agent/tunnel-agent');
  const { ClusterEnd } = await load('access/src/agent/cluster-end');
  const { KubeConfig } = await load('kube/src/config/kube-config');
  const { ca } = tlsIn(folder, 'server');
  const config = new KubeConfig({
    clusters: [{ name: 'c', server: `https://127.0.0.1:${apiPort}`, caData: btoa(ca), skipTLSVerify: false }],
    users: [{ name: 'u', token: 'token-of-the-agent' }],
    contexts: [{ name: 'c', cluster: 'c', user: 'u' }],
    currentContext: 'c',
  });
  await Promise.all(
    Array.from({ length: Number(clusters) }, (_, at) => {
      const end = new ClusterEnd({ config, clock, log });
      const tls = tlsIn(folder, `cluster${at + 1}`);
      const server = { host: '127.0.0.1', port: Number(agentPort) };
      const shared = { clock, random: Math.random, log, signal: new AbortController().signal };
      const resolve = () => (channel) => end.serve(channel);
      return new Promise((onChange) => startTunnelAgent({ server, tls: () => tls, hosts: [], resolve, ...shared, onChange }));
    }),
  );
  console.log('open');
}

async function runGateway(folder, apiPort, userPort) {
  const { startGatewayServer } = await load('access/src/gateway/gateway-server');
  const { ca, cert, key } = tlsIn(folder, 'server');
  const token = { type: 'ServiceAccountToken', token: 'token-of-the-account' };
  const gateway = (name, endpoint) => ({ name, endpoint, credential: token, secret: {}, health: { healthy: true } });
  const all = [
    gateway('direct', { type: 'Const', address: `https://127.0.0.1:${apiPort}`, caPem: ca }),
    gateway('cluster1', { type: 'ClusterProxy' }),
  ];
  const { address } = await startGatewayServer({
    ...{ ...LOOPBACK, tls: { cert, key }, impersonate: false, log },
    gateways: {
      get: (name) => ({ ok: true, value: all.find((one) => one.name === name) }),
      list: () => all,
      frontProxy: () => ({ caPem: ca, allowedNames: [], extraPrefixes: [], userHeaders: ['x-remote-user'], groupHeaders: ['x-remote-group'] }),
      onFrontProxy: () => undefined,
      userServer: () => ({ url: `https://127.0.0.1:${userPort}`, ca }),
      noteHealth: async () => undefined,
    },
  });
  console.log(address.split(':')[1]);
}

/** Starts the API server, the user server and the agents. */
async function open(clusters, measure) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-access-bench-'));
  const children = [];
  const start = async (...words) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return { child, says: String((await once(child.stdout, 'data'))[0]).trim() };
  };
  try {
    await writeCertificates(folder, clusters);
    const api = await start('api', folder);
    const server = await start('server', folder);
    const [agentPort, userPort] = server.says.split(' ');
    const agents = await start('agents', folder, agentPort, api.says, String(clusters));
    await measure({ folder, start, server, agents, userPort, apiPort: api.says, tls: tlsIn(folder, 'hub') });
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

async function writeCertificates(folder, clusters) {
  const { CertificateAuthority } = await load('kube/src/x509/certificate-authority');
  const { createAuthority } = await load('kube/src/x509/self-signed-authority');
  const pair = createAuthority('bench', Date.now());
  const authority = new CertificateAuthority(pair);
  const write = (name, { certPem, keyPem }) => {
    for (const [part, text] of Object.entries({ ca: pair.certPem, cert: certPem, key: keyPem }))
      writeFileSync(join(folder, `${name}.${part}`), text);
  };
  write('server', await authority.issueServing(['127.0.0.1', 'localhost'], Date.now(), 86_400_000));
  for (const commonName of ['hub', ...Array.from({ length: clusters }, (_, at) => `cluster${at + 1}`)])
    write(commonName, await authority.issueClient({ commonName, organizations: [] }, Date.now(), 86_400_000));
}

async function measureWatches(watches, clusters) {
  await open(clusters, async ({ server, agents, userPort, apiPort, tls }) => {
    const memory = ({ child }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1_024;
    const sizes = () => `server ${Math.round(memory(server))} MB, agents ${Math.round(memory(agents))} MB`;
    console.log(`load ${loadavg()[0].toFixed(1)}, ${watches} watches of ${clusters} clusters, an event a second each; without them: ${sizes()}`);
    for (let round = 1; round <= 3; round += 1)
      for (const [name, at] of [
        ['direct', () => `https://127.0.0.1:${apiPort}/watch`],
        ['through the hub', (one) => `https://127.0.0.1:${userPort}/cluster${(one % clusters) + 1}/watch`],
      ]) {
        const late = [];
        let isCounting = false;
        const open = await Promise.all(
          Array.from({ length: watches }, async (_, one) => {
            const asked = https.get(at(one), { ca: tls.ca, agent: false, headers: { authorization: 'Bearer alice' } });
            const [response] = await once(asked, 'response');
            response.on('data', (data) => {
              const arrived = now();
              if (isCounting) for (const line of String(data).trim().split('\n')) late.push(arrived - Number(line));
            });
            response.on('error', () => undefined);
            return asked;
          }),
        );
        await pause(3_000);
        isCounting = true;
        await pause(15_000);
        const text = sizes();
        for (const asked of open) asked.destroy();
        console.log(`${name.padEnd(16)} ${late.length} events, ${percentiles(late)}; ${text}`);
        await pause(2_000);
      }
  });
}

async function measureGateway(mib) {
  await open(1, async ({ folder, start, userPort, apiPort, tls }) => {
    const { says: gatewayPort } = await start('gateway', folder, apiPort, userPort);
    const prefix = '/apis/cluster.core.oam.dev/v1alpha1/clustergateways';
    console.log(`load ${loadavg()[0].toFixed(1)}, ${mib} MiB in one request, ${SMALL} small requests in one connection, each 3 times`);
    for (let round = 1; round <= 3; round += 1)
      for (const [name, base] of [
        ['direct', `https://127.0.0.1:${apiPort}`],
        ['user server', `https://127.0.0.1:${userPort}/cluster1`],
        ['gateway', `https://localhost:${gatewayPort}${prefix}/direct/proxy`],
        ['gateway, tunnel', `https://localhost:${gatewayPort}${prefix}/cluster1/proxy`],
      ]) {
        const agent = new https.Agent({ ...tls, keepAlive: true, maxSockets: 1 });
        const headers = base.includes('clustergateways') ? { 'x-remote-user': 'alice' } : { authorization: 'Bearer alice' };
        const read = async (path) => {
          const [response] = await once(https.get(`${base}${path}`, { agent, headers }), 'response');
          if (response.statusCode !== 200) throw new Error(`${name}: ${response.statusCode}`);
          response.resume();
          await once(response, 'end');
        };
        const timed = async (path) => {
          const from = performance.now();
          await read(path);
          return performance.now() - from;
        };
        for (let at = 0; at < 200; at += 1) await read('/small');
        const times = [];
        for (let at = 0; at < SMALL; at += 1) times.push(await timed('/small'));
        const rate = Math.round((SMALL * 1_000) / times.reduce((sum, one) => sum + one, 0));
        const bulk = await timed(`/bulk/${mib}`);
        agent.destroy();
        console.log(`${name.padEnd(16)} ${Math.round((mib * 1_000) / bulk)} MiB/s, ${rate} requests/s, ${percentiles(times)}`);
      }
  });
}

function percentiles(times) {
  times.sort((a, b) => a - b);
  return [50, 99].map((share) => `p${share} ${times[Math.floor((times.length * share) / 100)].toFixed(2)} ms`).join(', ');
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
