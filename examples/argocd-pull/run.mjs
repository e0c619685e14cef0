// Runs the pull model of Argo CD on this machine; README.md says what it shows.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const BERTH = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const LIMIT_MS = 120_000;
const APPLICATIONS = '/apis/argoproj.io/v1alpha1/namespaces/argocd/applications';
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/east/manifestworks';

const dir = mkdtempSync(join(tmpdir(), 'berth-argocd-pull-'));
const children = [];

function berth(...args) {
  const child = spawn(process.execPath, [BERTH, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

/** The text that a command prints first. */
function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes('\n')) resolve(text.split('\n')[0].trim());
    });
    child.once('exit', (code) => reject(new Error(`ended with exit code ${code}`)));
  });
}

function client(kubeconfig) {
  const text = readFileSync(kubeconfig, 'utf8');
  const url = /server: "(.*)"/.exec(text)[1];
  const token = /token: (\S+)/.exec(text)[1];
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)[1], 'base64').toString();
  const agent = new Agent({ keepAlive: true, ca });
  const call = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type };
      const sent = request(`${url}${path}`, { method, agent, headers }, async (answer) => {
        const chunks = await answer.toArray();
        resolve({ status: answer.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return { call, close: () => agent.destroy() };
}

/** The first answer of which `test` is true. */
async function until(what, ask, test) {
  const endMs = Date.now() + LIMIT_MS;
  while (Date.now() < endMs) {
    const found = await ask().catch(() => undefined);
    if (found !== undefined && test(found)) return found;
    // fixed wait: the pace of a poll
    await pause(200);
  }
  throw new Error(`${what} did not happen within ${LIMIT_MS / 1000} s`);
}

const APPLICATION_KIND = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'applications.argoproj.io' },
  spec: {
    group: 'argoproj.io',
    scope: 'Namespaced',
    names: { plural: 'applications', singular: 'application', kind: 'Application', listKind: 'ApplicationList' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

function show(title, value) {
  process.stdout.write(`\n${title}\n${JSON.stringify(value, null, 2)}\n`);
}

function repository() {
  const folder = join(dir, 'fleet');
  cpSync(join(import.meta.dirname, 'fleet'), folder, { recursive: true });
  const git = (...args) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=example', '-c', 'user.email=example@example.org', ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'fleet');
  return folder;
}

async function main() {
  const data = join(dir, 'hub');
  const kubeconfig = await firstLine(
    berth('hub', '--data', data, '--listen', '127.0.0.1:0', '--members', 'east,west', '--agents'),
  );
  const hub = client(kubeconfig);
  const east = client(join(data, 'admin-east.kubeconfig'));
  for (const api of [hub, east]) {
    await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', APPLICATION_KIND);
    await until('serving Applications', () => api.call('GET', APPLICATIONS), ({ status }) => status === 200);
  }
  // An Argo CD lives there.
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } };
  await east.call('POST', '/api/v1/namespaces', namespace);
  const kinds = ['--kind', 'argoproj.io/Application'];
  const place = ['--kubeconfig', kubeconfig, '--data', join(dir, 'serve')];
  berth('serve', '--repo', repository(), '--argocd-pull', '--embedded', ...kinds, ...place);

  const works = await until('writing the work', () => hub.call('GET', WORKS), ({ body }) => body.items?.length > 0);
  const [{ metadata, spec }] = works.body.items;
  show(`ManifestWork ${metadata.namespace}/${metadata.name} on the hub`, spec.workload.manifests[0]);

  const path = `${APPLICATIONS}/shop`;
  const pulled = await until('pulling the Application', () => east.call('GET', path), ({ status }) => status === 200);
  show('The destination of the Application on east', pulled.body.spec.destination);

  const status = { health: { status: 'Healthy' }, sync: { status: 'Synced', revision: 'abc' } };
  await east.call('PATCH', path, { status }, 'application/merge-patch+json');
  const known = await until(
    'reporting the status',
    () => hub.call('GET', path),
    ({ body }) => body.status?.health?.status === 'Healthy',
  );
  show('The status of the Application on the hub', known.body.status);
  hub.close();
  east.close();
}

try {
  await main();
} finally {
  for (const child of children.reverse()) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill()) await ended;
  }
  rmSync(dir, { recursive: true, force: true });
}
