import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UpdateStrategy } from '@berth/ocm/kind/manifest-work';
import { APPLIED_MANIFEST_WORK, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AgentBesideControllers } from './agent-beside-controllers.ts';

const CONFIG_MAP: KindInfo = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const DEPLOYMENT: KindInfo = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

const UPDATE: UpdateStrategy = { type: 'Update' };
const CREATE_ONLY: UpdateStrategy = { type: 'CreateOnly' };
const APPLY: UpdateStrategy = { type: 'ServerSideApply' };
const FORCE: UpdateStrategy = { type: 'ServerSideApply', serverSideApply: { force: true } };
const applyAs = (fieldManager: string): UpdateStrategy => ({
  type: 'ServerSideApply',
  serverSideApply: { fieldManager },
});

type Data = Readonly<Record<string, string>>;
type Step = readonly [UpdateStrategy, Data];

/**
 * A work whose update strategy changes: the same on the embedded hub and on kube-apiserver.
 * @param server hub and managed cluster, read in each test
 */
export function changedStrategies(server: () => KubeApi): void {
  let turn = 0;
  let agent: AgentBesideControllers;
  beforeEach(async () => {
    turn += 1;
    agent = new AgentBesideControllers(server(), `strategy-${String(turn)}`);
    await agent.makeNamespace();
    await agent.start();
  });
  afterEach(() => agent.stop());

  const manifest = (data: Data, labels: Data = {}): KubeObject => {
    const object = agent.object('v1', 'ConfigMap', { data });
    return { ...object, metadata: { ...object.metadata, labels } };
  };
  const live = () => agent.read(CONFIG_MAP);

  const STORIES: readonly { readonly name: string; readonly steps: readonly Step[] }[] = [
    {
      name: 'Update to ServerSideApply and back, twice',
      steps: [
        [UPDATE, { a: '1', b: '1' }],
        [APPLY, { a: '1', b: '1' }],
        [APPLY, { a: '9', b: '1' }],
        [UPDATE, { a: '9', c: '1' }],
        [UPDATE, { c: '2' }],
        [APPLY, { c: '3' }],
      ],
    },
    {
      name: 'a field leaves with the change to ServerSideApply',
      steps: [
        [UPDATE, { a: '1', b: '1' }],
        [APPLY, { a: '1' }],
      ],
    },
    {
      name: 'ServerSideApply by force',
      steps: [
        [UPDATE, { a: '1', b: '1' }],
        [FORCE, { a: '2' }],
        [UPDATE, { b: '1' }],
      ],
    },
    {
      name: 'CreateOnly to ServerSideApply',
      steps: [
        [CREATE_ONLY, { a: '1', b: '1' }],
        [APPLY, { a: '2' }],
      ],
    },
    {
      name: 'another field manager',
      steps: [
        [applyAs('work-agent-one'), { a: '1', b: '1' }],
        [applyAs('work-agent-two'), { a: '2' }],
        [APPLY, { c: '1' }],
        [applyAs('work-agent-one'), { c: '2' }],
      ],
    },
  ];
  const WHEN = [false, true].flatMap((restarts) => STORIES.map((story) => ({ ...story, restarts })));
  it.each(WHEN)('$name (restarts between: $restarts)', async ({ steps, restarts }) => {
    for (const [strategy, data] of steps) {
      if (restarts) await agent.start();
      await agent.applied(manifest(data, { keys: Object.keys(data).join('-') }), strategy);
      expect((await live())?.['data']).toEqual(data);
      expect((await live())?.metadata.ownerReferences).toHaveLength(1);
    }
    await agent.start();
    const { resourceVersion } = (await live())?.metadata ?? {};
    await agent.writesAtRest();
    expect((await live())?.metadata.resourceVersion).toBe(resourceVersion);
  });

  it('what others wrote is theirs: their fields stay, and a conflict with them is one', async () => {
    await agent.applied(manifest({ a: '1', b: '1' }), CREATE_ONLY);
    await agent.byOther(CONFIG_MAP, { data: { a: 'theirs', c: 'theirs' } }, 'kubectl-edit');
    await agent.applied(manifest({ b: '2' }), APPLY);
    expect((await live())?.['data']).toEqual({ a: 'theirs', b: '2', c: 'theirs' });
    await agent.apply([manifest({ a: '1', b: '2' })], APPLY);
    await expect.poll(() => agent.appliedCondition()).toBe('False');
    expect((await live())?.['data']).toEqual({ a: 'theirs', b: '2', c: 'theirs' });
  });

  it('an object that an agent wrote before is taken over, but not one of another work', async () => {
    const before = (references: readonly object[]): KubeObject => {
      const object = manifest({ a: '0', b: '0' });
      return { ...object, metadata: { ...object.metadata, ownerReferences: references } } as KubeObject;
    };
    const apiVersion = 'work.open-cluster-management.io/v1';
    const name = `of-another-agent-${String(turn)}`;
    const { metadata } = await server().create(APPLIED_MANIFEST_WORK, {
      apiVersion,
      kind: 'AppliedManifestWork',
      metadata: { name },
      spec: { hubHash: 'other', agentID: 'other', manifestWorkName: 'other' },
    });
    const other = { apiVersion, kind: 'AppliedManifestWork', name, uid: metadata.uid };
    await server().create(CONFIG_MAP, before([other]), { fieldManager: 'work-agent' });
    await agent.apply([manifest({ a: '1' })], APPLY);
    await expect.poll(() => agent.appliedCondition()).toBe('False');
    expect((await live())?.['data']).toEqual({ a: '0', b: '0' });
    const patch = { metadata: { ownerReferences: null } };
    await agent.byOther(CONFIG_MAP, patch, 'someone');
    await expect.poll(() => agent.appliedCondition()).toBe('True');
    expect((await live())?.['data']).toEqual({ a: '1' });
  });

  it('fields that the work ignores keep their value', async () => {
    const deployment = (more: object): KubeObject =>
      agent.object('apps/v1', 'Deployment', {
        spec: {
          ...more,
          selector: { matchLabels: { app: 'a' } },
          template: {
            metadata: { labels: { app: 'a' } },
            spec: { containers: [{ name: 'a', image: 'web' }] },
          },
        },
      });
    await agent.applied(deployment({ replicas: 3, paused: true }), UPDATE);
    const ignoreFields = [{ condition: 'OnSpokePresent' as const, jsonPointers: ['/spec/replicas'] }];
    const strategy: UpdateStrategy = { type: 'ServerSideApply', serverSideApply: { ignoreFields } };
    await agent.applied(deployment({}), strategy);
    const spec = ((await agent.read(DEPLOYMENT))?.['spec'] ?? {}) as Record<string, unknown>;
    expect(spec['replicas']).toBe(3);
    expect(spec['paused']).toBeUndefined();
  });
}
