// Runs the pull model of Argo CD on this machine; README.md says what it shows.
import { join } from 'node:path';
import { argoPath, installArgo } from '../shared/argo-installation.mjs';
import { firstLine, runExample, show, until } from '../shared/example-run.mjs';

const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/east/manifestworks';
const SHOP = argoPath('applications', 'shop');

await runExample('argocd-pull', async (run) => {
  const data = join(run.dir, 'hub');
  const kubeconfig = await firstLine(
    run.berth('hub', '--data', data, '--listen', '127.0.0.1:0', '--members', 'east,west', '--agents'),
  );
  const hub = run.client(kubeconfig);
  const east = run.client(join(data, 'admin-east.kubeconfig'));
  // An Argo CD lives on both.
  for (const cluster of [hub, east]) await installArgo(cluster);
  const repository = run.repository('fleet', join(import.meta.dirname, 'fleet'));
  const kinds = ['--kind', 'argoproj.io/Application'];
  const place = ['--kubeconfig', kubeconfig, '--data', join(run.dir, 'serve')];
  run.berth('serve', '--repo', repository, '--argocd-pull', '--embedded', ...kinds, ...place);

  const works = await until('writing the work', () => hub.call('GET', WORKS), ({ body }) => body.items?.length > 0);
  const [{ metadata, spec }] = works.body.items;
  show(`ManifestWork ${metadata.namespace}/${metadata.name} on the hub`, spec.workload.manifests[0]);

  const pulled = await until('pulling the Application', () => east.call('GET', SHOP), ({ status }) => status === 200);
  show('The destination of the Application on east', pulled.body.spec.destination);

  const status = { health: { status: 'Healthy' }, sync: { status: 'Synced', revision: 'abc' } };
  await east.patch(SHOP, { status });
  const known = await until(
    'reporting the status',
    () => hub.call('GET', SHOP),
    ({ body }) => body.status?.health?.status === 'Healthy',
  );
  show('The status of the Application on the hub', known.body.status);
});
