// A test of an author of add-ons for the runner of Node, on the built modules. With the argument `exit` it ends its process in the middle.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const { withHub } = await import('../../.cache/modules/packages/addon/src/testing.js');
const { CONFIG_MAP, MANIFEST_WORK } = await import('../../.cache/modules/packages/kube/src/model/kinds.js');

const metadata = { namespace: 'default', name: 'greeting' };
const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { hello: 'cluster1' } };

test('a work reaches the cluster', async () => {
  await withHub(async ({ hub, cluster, kubeconfigs, waitFor }) => {
    process.stdout.write(`FOLDER ${kubeconfigs.hub}\n`);
    if (process.env.EXIT_EARLY === '1') process.exit(3);
    await hub.create(MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { namespace: 'cluster1', name: 'greeting' },
      spec: { workload: { manifests: [manifest] } },
    });
    assert.deepEqual((await waitFor(() => cluster.get(CONFIG_MAP, metadata))).data, { hello: 'cluster1' });
  });
});
