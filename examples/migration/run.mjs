// Moves an Application from one cluster to another, twice; README.md says what it shows.
import { join } from 'node:path';
import { argoPath, inArgo, installArgo } from '../shared/argo-installation.mjs';
import { startArgo, whyNoArgo } from '../shared/argo-programs.mjs';
import { standInForApplicationSetController, standInForArgo } from '../shared/argo-stand-in.mjs';
import { connectArgo } from '../shared/connect-argo.mjs';
import { firstLine, readKubeconfig, runExample, say, show, until } from '../shared/example-run.mjs';

const CLUSTERS = ['east', 'west'];
const MANAGED_CLUSTERS = '/apis/cluster.open-cluster-management.io/v1/managedclusters';
const MAINTENANCE = { key: 'maintenance', effect: 'NoSelect' };
const UNREACHABLE = 'cluster.open-cluster-management.io/unreachable';
/** Whose kubeconfig the agents register with. In production that is an account that may do nothing else. */
const REGISTERING_USER = 'admin';

await runExample('migration', async (run) => {
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
  const registration = ['--registration', 'all', '--auto-accept-user', REGISTERING_USER];
  const more = ['--argocd-pull', '--argocd-cluster-secrets', ...registration];
  const history = await connectArgo(run, { kubeconfig, repository: fleet, more });
  const members = {};
  // One after the other: the placement takes the first that has joined, and keeps it.
  for (const name of CLUSTERS) {
    members[name] = await startMember(run, name, { data, kubeconfig });
    await isAvailable(hub, name, 'True');
    say(`${name} has joined.`);
  }
  await startAllArgo(run, { hub, kubeconfig, data, members, file: join(fleet, 'argocd/applicationset.yaml') });

  say('\nThe placement shop/shop takes one cluster.');
  await runsOn(hub, members, { on: 'east', not: 'west' });

  say('\nMaintenance: east gets the taint maintenance.');
  await maintain(hub, 'east', [MAINTENANCE]);
  await runsOn(hub, members, { on: 'west', not: 'east' });
  await maintain(hub, 'east', null);
  say('The maintenance is over. Nothing moves back: a placement keeps what it has.');

  say('\nThe connection of west to the hub is cut: nobody renews its lease any more.');
  await run.stop(members.west.agent);
  await isAvailable(hub, 'west', 'Unknown');
  await until('tainting west', () => readCluster(hub, 'west'), ({ spec }) =>
    spec.taints?.some(({ key }) => key === UNREACHABLE),
  );
  say('Its lease has run out, and west gets the taint unreachable.');
  const { body } = await copyOn(hub, 'east', ({ status }) => status?.conditions?.length > 0);
  say(`shop-east is ${body.status.health.status}, with a warning: ${body.status.conditions[0].message}`);
  const onWest = await members.west.cluster.call('GET', argoPath('applications', 'shop-west'));
  say(`On west itself shop-west is still ${onWest.body.status.health.status}: nobody can tell west to stop.`);

  say('\nwest comes back.');
  members.west.agent = startAgent(run, 'west', { data, kubeconfig });
  await isAvailable(hub, 'west', 'True');
  await runsOn(hub, members, { on: 'east', not: 'west' });
  await copyOn(hub, 'east', ({ status }) => (status.conditions ?? []).length === 0);
  say('The warning is gone.');

  show(
    '$ berth history shop/shop --why',
    await run.berthOutput('history', 'shop/shop', '--why', '--data', history),
  );
  show(
    '$ berth history shop/shop --timeline',
    await run.berthOutput('history', 'shop/shop', '--timeline', '--limit', '100', '--data', history),
  );
});

/** A cluster with Argo CD's kinds, which calls itself `local`, and its agent. */
async function startMember(run, name, hub) {
  const file = join(hub.data, `admin-${name}.kubeconfig`);
  const cluster = run.client(file);
  await installArgo(cluster);
  const { server, token, caData } = readKubeconfig(file);
  const config = JSON.stringify({ bearerToken: token, tlsClientConfig: { caData } });
  const secret = inArgo('v1', 'Secret', 'local', { stringData: { name: 'local', server, config } });
  secret.metadata.labels['argocd.argoproj.io/secret-type'] = 'cluster';
  await cluster.create('/api/v1/namespaces/argocd/secrets', secret);
  return { cluster, agent: startAgent(run, name, hub) };
}

/** It registers the cluster, and renews its lease while it runs. */
function startAgent(run, name, { data, kubeconfig }) {
  const member = join(data, `admin-${name}.kubeconfig`);
  const registration = ['--bootstrap-kubeconfig', kubeconfig, '--hub-kubeconfig-dir', run.folder(`hub-of-${name}`)];
  return run.berth('agent', ...registration, '--kubeconfig', member, '--cluster-name', name);
}

/** Argo CD on the hub and on each cluster: the real one where the programs are there. */
async function startAllArgo(run, { hub, kubeconfig, data, members, file }) {
  const why = await whyNoArgo(run);
  if (why !== undefined) {
    say(`\nA stand-in for Argo CD runs (${why}).`);
    standInForApplicationSetController(run, hub, { file, kubeconfig });
    for (const { cluster } of Object.values(members)) standInForArgo(run, cluster);
    return;
  }
  for (const name of CLUSTERS) await startArgo(run, name, join(data, `admin-${name}.kubeconfig`));
  await startArgo(run, 'hub', kubeconfig);
}

/** As `kubectl patch managedcluster`. */
function maintain(hub, cluster, taints) {
  return hub.patch(`${MANAGED_CLUSTERS}/${cluster}`, { spec: { taints } });
}

async function readCluster(hub, name) {
  return (await hub.call('GET', `${MANAGED_CLUSTERS}/${name}`)).body;
}

function isAvailable(hub, name, wanted) {
  return until(
    `${name} available: ${wanted}`,
    () => readCluster(hub, name),
    ({ status }) =>
      status?.conditions?.some(
        ({ type, status: is }) => type === 'ManagedClusterConditionAvailable' && is === wanted,
      ),
  );
}

/** The hub's Application of the cluster, healthy and as `test` asks. */
function copyOn(hub, cluster, test) {
  return until(
    `running on ${cluster}`,
    () => hub.call('GET', argoPath('applications', `shop-${cluster}`)),
    ({ status, body }) =>
      status === 200 &&
      body.status?.sync?.status === 'Synced' &&
      body.status.health?.status === 'Healthy' &&
      test(body),
  );
}

/** Waits until one cluster has the Application, and the other one has nothing of it. */
async function runsOn(hub, members, { on, not }) {
  const { body } = await copyOn(hub, on, () => true);
  const { sync, health } = body.status;
  await until(
    `leaving ${not}`,
    () => members[not].cluster.call('GET', argoPath('applications', `shop-${not}`)),
    ({ status }) => status === 404,
  );
  say(`shop-${on} is ${sync.status} and ${health.status}. On ${not} there is none.`);
}
