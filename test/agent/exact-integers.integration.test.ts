import { expect, it } from 'vitest';
import type { ManifestWorkSpec, UpdateStrategy } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { AgentHarness, DEPLOYMENT } from '../../packages/agent/test/agent-harness.ts';

const LONG = 9_007_199_254_740_993n;

const manifest = (long: bigint): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: { long, left: { free: 1, kept: long } },
});

function work(long: bigint, updateStrategy: UpdateStrategy): ManifestWorkSpec {
  return {
    workload: { manifests: [manifest(long)] },
    manifestConfigs: [
      {
        resourceIdentifier: { group: 'apps', resource: 'deployments', namespace: 'default', name: 'web' },
        updateStrategy,
        feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'long', path: '.spec.long' }] }],
        conditionRules: [
          {
            condition: 'Long',
            type: 'CEL',
            celExpressions: ['object.spec.long % 10 == 3 || object.spec.long % 10 == 4'],
          },
        ],
      },
    ],
  };
}

async function shown(harness: AgentHarness): Promise<unknown> {
  const status = (await harness.work('web'))?.status?.resourceStatus?.manifests?.[0];
  const spec = (await harness.cluster.get(DEPLOYMENT, { namespace: 'default', name: 'web' }))?.['spec'] as
    | { long: bigint; left: { kept: bigint; free?: number } }
    | undefined;
  return {
    live: spec?.long,
    kept: spec?.left.kept,
    feedback: status?.statusFeedback?.values?.[0]?.fieldValue.integer,
    rule: status?.conditions?.find(({ type }) => type === 'Long')?.status,
  };
}

const all = (long: bigint) => ({ live: long, kept: long, feedback: long, rule: 'True' });

it.each<{ name: string; strategy: UpdateStrategy }>([
  { name: 'Update', strategy: { type: 'Update' } },
  { name: 'ServerSideApply', strategy: { type: 'ServerSideApply' } },
  {
    name: 'ServerSideApply without fields that a jq expression, a pointer and a path name',
    strategy: {
      type: 'ServerSideApply',
      serverSideApply: {
        ignoreFields: [
          { condition: 'OnSpokeChange', jqPathExpressions: ['.spec.left.free'] },
          { condition: 'OnSpokePresent', jsonPointers: ['/spec/no'], jsonPaths: ['.spec.none'] },
          { condition: 'OnSpokePresent', jqPathExpressions: ['.spec.nothing'] },
        ],
      },
    },
  },
])('$name carries whole numbers beyond 2^53 to the digit', async ({ strategy }) => {
  const harness = new AgentHarness();
  await harness.start();
  await harness.applyWork('web', work(LONG, strategy));
  await expect.poll(() => shown(harness)).toEqual(all(LONG));
  // As doubles the two are the same.
  await harness.applyWork('web', work(LONG + 1n, strategy));
  await expect.poll(() => shown(harness)).toEqual(all(LONG + 1n));
  const [before] = harness.cluster.peek(DEPLOYMENT);
  await harness.stop();
  await harness.start();
  await harness.settle(60_000);
  expect(harness.cluster.peek(DEPLOYMENT)).toEqual([before]);
  await harness.stop();
});
