// Run after `npm run build:modules`: node test/bench/plugin.bench.mjs
// The plugin endpoint for a placement of 1,000 clusters, beside a bare node:http server that returns the same bytes. Each server is a
// process of its own; the rounds alternate. `warm`: nothing changed since the last answer. `changed`: a cluster changed before each.
import { fork } from 'node:child_process';
import http from 'node:http';

const PATH = '/api/v1/getparams.execute';
const CLUSTERS = 1_000;
const [, , role] = process.argv;

if (role === undefined) await compare();
else await serve(role);

async function serve(kind) {
  const { GetparamsEndpoint } = await import('../../.cache/modules/plugin/getparams-endpoint.js');
  const { listenHttp } = await import('../../.cache/modules/packages/runtime/src/http/http-listener.js');
  const scores = [{ resource: 'default', name: 'cpu', value: 7 }];
  let revision = 0;
  const clusters = new Map();
  for (let n = 0; n < CLUSTERS; n++) clusters.set(`cluster-${n}`, cluster(n));
  const placement = {
    groups: [{ name: '', index: 0, decisions: [...clusters.keys()].map((clusterName) => ({ clusterName, reason: '' })) }],
    decisionId: 'd1',
    commit: 'c1',
    emptyAllowed: false,
  };
  const grant = { name: 'bench', scopes: new Set(['plugin']), namespaces: 'any', clusterSets: 'any' };
  const endpoint = new GetparamsEndpoint({
    source: {
      problem: () => undefined,
      placement: () => placement,
      cluster: (name) => clusters.get(name),
      scores: () => scores,
      isInSets: () => true,
      revision: () => {
        if (kind !== 'changed') return 0;
        const n = (revision += 1) % CLUSTERS;
        clusters.set(`cluster-${n}`, cluster(n));
        return revision;
      },
    },
    tokens: { identify: () => grant },
    clock: { monotonicMs: () => performance.now() },
  });
  let listener;
  if (kind === 'bare') listener = await bare(endpoint);
  else listener = await listenHttp({ host: '127.0.0.1', port: 0 }, (request, response) => endpoint.handle(request, response));
  process.send(listener.url);
}

/** Reads the request and returns the bytes that the endpoint gave once. */
async function bare(endpoint) {
  const once = http.createServer((request, response) => void endpoint.handle(request, response));
  await new Promise((resolve) => once.listen(0, '127.0.0.1', resolve));
  const { body } = await ask(`http://127.0.0.1:${once.address().port}`, new http.Agent());
  once.close();
  const server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}` };
}

function cluster(n) {
  const labels = { 'cluster.open-cluster-management.io/clusterset': 'prod', vendor: 'OpenShift', cloud: 'aws', region: `eu-${n % 9}`, tier: `${n % 3}` };
  const amounts = { cpu: '16', memory: '65536Mi', pods: '250' };
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: `cluster-${n}`, labels },
    spec: { managedClusterClientConfigs: [{ url: `https://cluster-${n}.example:6443` }] },
    status: {
      version: { kubernetes: 'v1.33.1' },
      allocatable: amounts,
      capacity: amounts,
      clusterClaims: ['id', 'platform', 'product', 'zone'].map((name) => ({ name, value: `${name}-${n}` })),
    },
  };
}

function ask(url, agent) {
  const text = JSON.stringify({ applicationSetName: 'web', input: { parameters: { placement: 'team-a/web' } } });
  const headers = { authorization: 'Bearer a-token-of-the-bench', 'content-type': 'application/json', 'content-length': text.length };
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}${PATH}`, { method: 'POST', agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        if (response.statusCode === 200) resolve({ body });
        else reject(new Error(`${response.statusCode} ${body}`));
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}

async function round(url, { requests, at_once }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: at_once });
  const times = [];
  let left = requests;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: at_once }, async () => {
      while (left-- > 0) {
        const start = performance.now();
        await ask(url, agent);
        times.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  agent.destroy();
  times.sort((a, b) => a - b);
  return { perSecond: requests / seconds, p50: times[Math.floor(times.length / 2)], p99: times[Math.floor(times.length * 0.99)] };
}

async function compare() {
  const kinds = ['bare', 'warm', 'changed'];
  const children = kinds.map((kind) => fork(import.meta.filename, [kind]));
  const urls = await Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve))));
  const { body } = await ask(urls[0], new http.Agent());
  console.log(`${CLUSTERS} clusters, ${body.length} bytes an answer`);
  for (const url of urls) await round(url, { requests: 200, at_once: 4 });
  const found = new Map(kinds.map((kind) => [kind, { alone: [], many: [] }]));
  for (let n = 0; n < 7; n++)
    for (const [at, kind] of kinds.entries()) {
      found.get(kind).alone.push(await round(urls[at], { requests: 300, at_once: 1 }));
      found.get(kind).many.push(await round(urls[at], { requests: kind === 'changed' ? 100 : 400, at_once: 8 }));
    }
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const base = median(found.get('bare').many.map(({ perSecond }) => perSecond));
  for (const [kind, { alone, many }] of found) {
    const perSecond = median(many.map((one) => one.perSecond));
    console.log(
      `${kind}: one at a time p50 ${median(alone.map(({ p50 }) => p50)).toFixed(2)} ms, p99 ${median(alone.map(({ p99 }) => p99)).toFixed(2)} ms; ` +
        `8 at once ${perSecond.toFixed(0)} answers/s, ${((perSecond / base) * 100).toFixed(0)} % of bare`,
    );
  }
  for (const child of children) child.kill();
}
