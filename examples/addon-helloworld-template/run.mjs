// Installs an add-on that an AddOnTemplate describes on the clusters of a placement; README.md says what it shows.
import { join } from 'node:path';
import { firstLine, runExample, say, show, until } from '../shared/example-run.mjs';

const FLEET = join(import.meta.dirname, 'fleet');
const ADDONS = '/apis/addon.open-cluster-management.io/v1alpha1/namespaces/cluster1/managedclusteraddons/helloworld';
const SECRET = '/api/v1/namespaces/open-cluster-management-agent-addon/secrets/helloworld-hub-kubeconfig';

await runExample('addon-helloworld-template', async (run) => {
  const data = join(run.dir, 'hub');
  const kubeconfig = await firstLine(
    run.berth('hub', '--data', data, '--listen', '127.0.0.1:0', '--members', 'cluster1,cluster2', '--agents'),
  );
  const hub = run.client(kubeconfig);
  const cluster = run.client(join(data, 'admin-cluster1.kubeconfig'));
  const kinds = ['addon.open-cluster-management.io/*', 'rbac.authorization.k8s.io/ClusterRole', '/Namespace'];
  const place = ['--kubeconfig', kubeconfig, '--embedded', '--data', join(run.dir, 'serve')];
  const duties = ['--registration', 'all', '--addons', 'all'];
  const repository = run.repository('fleet', FLEET);
  run.berth('serve', '--repo', repository, ...kinds.flatMap((kind) => ['--kind', kind]), ...duties, ...place);

  say('Committed: the template, and the placement that selects all clusters.');
  const isAvailable = ({ body }) =>
    body.status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True');
  const { body } = await until('installing the add-on', () => hub.call('GET', ADDONS), isAvailable);
  show(
    'The conditions of the add-on on cluster1',
    body.status.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort().join('\n'),
  );
  const secret = await until('registering its agent', () => cluster.call('GET', SECRET), ({ status }) => status === 200);
  show('The Secret on cluster1 with the access to the hub has', Object.keys(secret.body.data).sort().join(' '));
  show('The add-ons of the fleet', await run.berthOutput('get', 'addons', '--kubeconfig', kubeconfig));
});
