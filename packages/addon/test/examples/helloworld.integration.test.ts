import { expect, it } from 'vitest';
import { tryIt } from '../../../../examples/addon-helloworld/main.ts';

it('helloworld: a ConfigMap of the cluster’s namespace appears on the cluster, and the add-on is available', async () => {
  const lines: string[] = [];
  await tryIt((text) => void lines.push(text));
  expect(lines).toEqual([
    expect.stringMatching(/^request {3}addon-cluster1-helloworld-\w+$/),
    'secret    default/helloworld-hub-kubeconfig',
    'configmap default/helloworld {"value":"helloworld"}',
    'lease     default/helloworld',
    'helloworld add-on is available.',
  ]);
});
