// Runs the push model of Argo CD on this machine; README.md says what it shows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argoPath, installArgo } from '../shared/argo-installation.mjs';
import { startArgo, whyNoArgo } from '../shared/argo-programs.mjs';
import { connectArgo } from '../shared/connect-argo.mjs';
import { firstLine, readKubeconfig, runExample, say, show, until } from '../shared/example-run.mjs';

const CLUSTERS = ['east', 'west'];
const PLACEMENT = 'shop/placement.yaml';
const SECRETS = '/api/v1/namespaces/argocd/secrets';

await runExample('argocd-push', async (run) => {
  const data = join(run.dir, 'hub');
  const kubeconfig = await firstLine(
    run.berth('hub', '--data', data, '--listen', '127.0.0.1:0', '--members', CLUSTERS.join(',')),
  );
  const hub = run.client(kubeconfig);
  await installArgo(hub);
  const app = run.repository('app', join(import.meta.dirname, 'app'));
  const fleet = run.repository('fleet', join(import.meta.dirname, 'fleet'), {
    'https://git.example.org/app.git': `file://${app}`,
  });
  for (const name of CLUSTERS) await giveCredentials(hub, name, join(data, `admin-${name}.kubeconfig`));
  await connectArgo(run, { kubeconfig, repository: fleet, more: ['--argocd-cluster-secrets'] });

  const registered = await until('registering the clusters', () => clustersOf(hub), (all) => all.length === 2);
  show('Clusters that Argo CD knows', table(['SECRET', 'CLUSTER'], registered));
  const parts = { run, hub, kubeconfig, fleet };
  const why = await whyNoArgo(run);
  if (why !== undefined) {
    say(`\nNo Argo CD runs (${why}). This is what it would make.`);
    await showRendered(parts, ['shop-east']);
    await placeEverywhere(parts);
    await showRendered(parts, CLUSTERS.map((name) => `shop-${name}`));
    return;
  }
  say('\n$ berth argocd run --no-clusters');
  await startArgo(run, 'hub', kubeconfig);
  await showSynced(parts, ['shop-east']);
  await placeEverywhere(parts);
  await showSynced(parts, CLUSTERS.map((name) => `shop-${name}`));
  const west = run.client(join(data, 'admin-west.kubeconfig'));
  const { body } = await west.call('GET', '/api/v1/namespaces/shop/configmaps/shop');
  show('What Argo CD brought to west', body.data);
});

/** The Secret by which Berth learns how Argo CD may reach the cluster; in earnest an administrator of the cluster makes it. */
async function giveCredentials(hub, name, kubeconfig) {
  const { server, token, caData } = readKubeconfig(kubeconfig);
  const config = JSON.stringify({ bearerToken: token, tlsClientConfig: { caData } });
  const metadata = { name: `${name}-cluster-secret`, namespace: name };
  await hub.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { server, config } };
  await hub.create(`/api/v1/namespaces/${name}/secrets`, secret);
}

async function clustersOf(hub) {
  const { body } = await hub.call('GET', `${SECRETS}?labelSelector=argocd.argoproj.io/secret-type%3Dcluster`);
  return body.items.map(({ metadata, data }) => [
    `${metadata.namespace}/${metadata.name}`,
    Buffer.from(data.name, 'base64').toString(),
  ]);
}

async function placeEverywhere({ run, fleet }) {
  const file = join(fleet, PLACEMENT);
  writeFileSync(file, readFileSync(file, 'utf8').replace('values: [east]', 'values: [east, west]'));
  run.commit(fleet, 'sell in the west, too');
  say('\nCommitted: the placement selects west, too.');
}

async function showSynced({ hub }, names) {
  const applications = await until(
    `syncing ${names.join(' and ')}`,
    async () => (await hub.call('GET', argoPath('applications'))).body.items,
    (items) =>
      items.length === names.length &&
      items.every(({ status }) => status?.sync?.status === 'Synced' && status.health?.status === 'Healthy'),
  );
  const rows = applications.map(({ metadata, spec, status }) => [
    metadata.name,
    spec.destination.name,
    status.sync.status,
    status.health.status,
  ]);
  show('Applications', table(['APPLICATION', 'CLUSTER', 'SYNC', 'HEALTH'], rows));
}

async function showRendered({ run, kubeconfig, fleet }, names) {
  const file = join(fleet, 'argocd/applicationset.yaml');
  const text = await until(
    `rendering ${names.join(' and ')}`,
    () => run.berthOutput('argocd', 'render', file, '--hub', '--kubeconfig', kubeconfig),
    (printed) => names.every((name) => printed.includes(name)),
  );
  show('$ berth argocd render applicationset.yaml --hub', text);
}

function table(headings, rows) {
  const lines = [headings, ...rows];
  const widths = headings.map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) => line.map((text, at) => text.padEnd(widths[at])).join('  ').trimEnd()).join('\n');
}
