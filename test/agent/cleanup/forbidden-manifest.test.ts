import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { AgentHarness, configMap, workOf } from '../../../packages/agent/test/agent-harness.ts';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'app', namespace: 'default' },
  spec: {},
};

/** On a real cluster the agent may not even read what it may not create. */
describe('a work with a manifest that the agent may not apply', () => {
  let harness: AgentHarness;
  let cluster: RefusingKubeApi;

  beforeEach(async () => {
    harness = new AgentHarness();
    cluster = new RefusingKubeApi(harness.cluster, 'kube.forbidden');
    await harness.start({ cluster });
  });
  afterEach(() => harness.stop());

  const refuse = (): void => {
    for (const verb of ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'])
      cluster.refused.add(`${verb} deployments`);
  };
  const recorded = async (): Promise<readonly string[]> =>
    ((await harness.applied('web'))?.status?.appliedResources ?? []).map(({ resource }) => resource);

  it('records what it applied, and cleans up what leaves it', async () => {
    refuse();
    await harness.applyWork('web', workOf(configMap('a'), configMap('b'), deployment));
    expect(await recorded()).toEqual(['configmaps', 'configmaps']);
    await harness.applyWork('web', workOf(configMap('a'), deployment));
    await harness.settle(60_000);
    expect(await harness.configMap('b')).toBeUndefined();
  });

  it.each([
    { name: 'with it', last: workOf(configMap('a'), deployment) },
    { name: 'after it was removed', last: workOf(configMap('a')) },
  ])('can be deleted $name', async ({ last }) => {
    refuse();
    await harness.applyWork('web', workOf(configMap('a'), deployment));
    await harness.applyWork('web', last);
    expect(await recorded()).toEqual(['configmaps']);
    await harness.deleteWork('web');
    await harness.settle(60_000);
    expect([await harness.work('web'), await harness.applied('web')]).toEqual([undefined, undefined]);
    expect(await harness.configMap('a')).toBeUndefined();
  });

  it('keeps what it did apply, when the right is taken away later', async () => {
    await harness.applyWork('web', workOf(configMap('a'), deployment));
    refuse();
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.settle(60_000);
    expect(await recorded()).toEqual(['configmaps', 'deployments']);
    await harness.deleteWork('web');
    expect(await harness.work('web')).toBeDefined();
  });
});
