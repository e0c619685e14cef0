import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ManifestConfig, ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Agent } from '@berth/agent/start-agent';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import {
  CLUSTER_ROLE,
  CONFIG_MAP,
  CRD,
  configMap,
  DEPLOYMENT,
  deployment,
  executor,
  kindOf,
  NAMESPACE,
  object,
  ownersOf,
  ROLE,
  ROLE_BINDING,
  noting,
  ScenarioHarness,
  SERVICE,
  SERVICE_ACCOUNT,
  until,
  withServer,
  workOf,
} from './scenario-harness.ts';

// Behaviours that OCM's own tests check and the recorded histories do not show.

let harness: ScenarioHarness;
let agent: Agent;

beforeAll(async () => {
  harness = await ScenarioHarness.start();
  for (const hub of [harness.hub, harness.secondHub])
    await hub.create(NAMESPACE, object(NAMESPACE, 'cluster1'));
  await harness.cluster.create(CRD, gadgets());
  agent = await harness.agent();
});

afterAll(async () => {
  await agent?.close();
  await harness?.close();
});

const GADGET = kindOf('example.com', 'Gadget');
const GADGET_V2 = { ...GADGET, version: 'v2' };

function gadgets(group = 'example.com', kind = 'Gadget'): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  const version = (name: string, storage: boolean): object => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  return object(CRD, `${plural}.${group}`, {
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [version('v1', true), version('v2', false)],
    },
  });
}

const applied = (name: string, verdict = 'True/True'): Promise<string> =>
  until(
    () => harness.verdict(name),
    (got) => got === verdict,
  );

const present = (kind: Parameters<ScenarioHarness['get']>[0], name: string): Promise<KubeObject> =>
  until(
    () => harness.get(kind, name),
    (found) => found !== undefined,
  ) as Promise<KubeObject>;

const gone = async (kind: Parameters<ScenarioHarness['get']>[0], name: string): Promise<void> => {
  await until(
    () => harness.get(kind, name),
    (found) => found === undefined,
  );
};

const config = (
  resource: string,
  name: string,
  more: Partial<ManifestConfig>,
  group = '',
): ManifestConfig => ({
  resourceIdentifier: { group, resource, name, namespace: 'default' },
  ...more,
});

describe('applying', () => {
  it('everything the agent writes is of manager work-agent', async () => {
    await harness.applyWork('manager', workOf(configMap('manager')));
    await applied('manager');
    const fields = (await harness.get(CONFIG_MAP, 'manager'))?.metadata.managedFields as {
      manager: string;
    }[];
    expect([...new Set(fields.map(({ manager }) => manager))]).toEqual(['work-agent']);
  });

  it('a CRD and its object come and go with one work', async () => {
    const late = kindOf('late.example.com', 'Sprocket');
    await harness.applyWork(
      'crd',
      workOf(object(late, 's', { spec: { a: 1 } }), gadgets('late.example.com', 'Sprocket')),
    );
    await applied('crd');
    expect(
      (await harness.applied('crd'))[0]?.status?.appliedResources?.map(({ resource }) => resource),
    ).toEqual(['customresourcedefinitions', 'sprockets']);
    await harness.deleteWork('crd');
    await gone(CRD, 'sprockets.late.example.com');
    await until(
      () => harness.work('crd'),
      (work) => work === undefined,
    );
  });

  it('annotations are merged and live finalizers stay on an object that stood before', async () => {
    const metadata = { annotations: { theirs: '1' }, finalizers: ['example.com/theirs'] };
    await harness.create(GADGET, object(GADGET, 'adopted', { spec: { a: 1 } }, metadata));
    await harness.applyWork(
      'adopt',
      workOf(object(GADGET, 'adopted', { spec: { a: 2 } }, { annotations: { ours: '1' } })),
    );
    await applied('adopt');
    expect(await harness.get(GADGET, 'adopted')).toMatchObject({
      metadata: { annotations: { theirs: '1', ours: '1' }, finalizers: ['example.com/theirs'] },
      spec: { a: 2 },
    });
    await harness.cluster.mergePatch(
      GADGET,
      { namespace: 'default', name: 'adopted' },
      { metadata: { finalizers: [] } },
    );
  });

  it('a namespace on a cluster-scoped manifest does not count', async () => {
    const role = object(CLUSTER_ROLE, 'scoped', { rules: [] }, { namespace: 'default' });
    await harness.applyWork('scoped', workOf(role));
    await applied('scoped');
    const work = await harness.work('scoped');
    expect(work?.status?.resourceStatus?.manifests?.[0]?.resourceMeta.namespace).toBe('');
    expect((await harness.applied('scoped'))[0]?.status?.appliedResources).toMatchObject([
      { name: 'scoped', namespace: '' },
    ]);
  });

  it('a namespace listed after its objects works in one pass', async () => {
    const inside = object(CONFIG_MAP, 'inside', { data: {} }, { namespace: 'one-pass' });
    await harness.applyWork('one-pass', workOf(inside, object(NAMESPACE, 'one-pass')));
    await applied('one-pass');
    expect(await harness.get(CONFIG_MAP, 'inside', 'one-pass')).toBeDefined();
  });

  it('the same work in another order keeps what it knew; a renamed object is new, the old one goes', async () => {
    const binding = (subject: string): KubeObject =>
      object(ROLE_BINDING, 'team', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'team' },
        subjects: [{ kind: 'ServiceAccount', name: subject, namespace: 'default' }],
      });
    const role = object(ROLE, 'team', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] });
    const account = (name: string): KubeObject => object(SERVICE_ACCOUNT, name);
    await harness.applyWork('team', workOf(account('old'), role, binding('old'), deployment('team')));
    await applied('team');
    const timeOf = async (kind: string): Promise<string | undefined> =>
      (await harness.work('team'))?.status?.resourceStatus?.manifests
        ?.find(({ resourceMeta }) => resourceMeta.kind === kind)
        ?.conditions?.find(({ type }) => type === 'Available')?.lastTransitionTime;
    const [before, accountBefore] = [await timeOf('Deployment'), await timeOf('ServiceAccount')];
    // Condition times have whole seconds: only in the next one can a fresh time be told from an old one.
    // fixed wait: condition times have whole seconds
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await harness.applyWork(
      'team',
      workOf(deployment('team', { image: 'registry.example.com/c:2' }), role, binding('new'), account('new')),
    );
    await applied('team');
    expect(await timeOf('Deployment')).toBe(before);
    expect(await timeOf('ServiceAccount')).not.toBe(accountBefore);
    await gone(SERVICE_ACCOUNT, 'old');
  });

  it('labels of the work are on its AppliedManifestWork, later ones too', async () => {
    await harness.applyWork('labels', workOf(configMap('labels')), { labels: { a: '1' } });
    await applied('labels');
    await harness.applyWork('labels', workOf(configMap('labels')), { labels: { b: '2' } });
    await until(
      async () => (await harness.applied('labels'))[0]?.metadata.labels,
      (got) => got?.['a'] === '1' && got['b'] === '2',
    );
  });

  it('an object that moves to another version of its API keeps its uid', async () => {
    await harness.applyWork('versions', workOf(object(GADGET, 'moving', { spec: { a: 1 } })));
    await applied('versions');
    const before = await harness.get(GADGET, 'moving');
    await harness.applyWork('versions', workOf(object(GADGET_V2, 'moving', { spec: { a: 2 } })));
    await applied('versions');
    const after = await harness.get(GADGET_V2, 'moving');
    expect([after?.metadata.uid, after?.['spec']]).toEqual([before?.metadata.uid, { a: 2 }]);
  });
});

describe('a restart is free', () => {
  it.each([
    { name: 'update', strategy: undefined },
    { name: 'apply', strategy: { type: 'ServerSideApply' as const } },
    { name: 'create', strategy: { type: 'CreateOnly' as const } },
  ])(
    '$name: a new agent writes nothing, although the server filled in defaults',
    async ({ name, strategy }) => {
      const clusterName = `free-${name}`;
      await harness.hub.create(NAMESPACE, object(NAMESPACE, clusterName));
      const manifests = [
        deployment(clusterName, { replicas: 2 }),
        configMap(clusterName),
        object(SERVICE, clusterName, { spec: { ports: [{ port: 80 }] } }),
      ];
      const manifestConfigs = ['deployments', 'configmaps', 'services'].map((resource) => ({
        resourceIdentifier: {
          group: resource === 'deployments' ? 'apps' : '',
          resource,
          name: '*',
          namespace: '*',
        },
        ...(strategy === undefined ? {} : { updateStrategy: strategy }),
      }));
      await harness.hub.create(MANIFEST_WORK, {
        apiVersion: 'work.open-cluster-management.io/v1',
        kind: 'ManifestWork',
        metadata: { name: 'free', namespace: clusterName },
        spec: { ...workOf(...manifests), manifestConfigs },
      });
      const first = await harness.agent({
        clusterName,
        agentId: clusterName,
        hub: withServer(harness.hub, clusterName),
      });
      const synced = async (): Promise<unknown> => {
        const work = (await harness.hub.get(MANIFEST_WORK, {
          namespace: clusterName,
          name: 'free',
        })) as unknown as ManifestWork;
        return work.status?.conditions?.find(({ type }) => type === 'Available')?.status;
      };
      await until(synced, (got) => got === 'True');
      await first.close();
      const writes: string[] = [];
      const second = await harness.agent({
        clusterName,
        agentId: clusterName,
        hub: noting(withServer(harness.hub, clusterName), writes),
        cluster: noting(harness.cluster, writes),
      });
      // A server-side apply that changes nothing is how that strategy looks; the server writes nothing then.
      const looks = name === 'apply' ? ['apply', 'apply', 'apply'] : [];
      await until(
        () => Promise.resolve(writes.length),
        (count) => count >= looks.length,
      );
      // fixed wait: the agent may be another program, whose rest only shows in what it does not write
      await sleep(1_500);
      await second.close();
      expect(writes).toEqual(looks);
    },
  );
});

describe('sharing and orphaning', () => {
  it('an object of two works goes with the last; a foreign owner does not keep it', async () => {
    const foreign = await harness.create(CONFIG_MAP, configMap('foreign'));
    await harness.applyWork('share-a', workOf(configMap('shared')));
    await harness.applyWork('share-b', workOf(configMap('shared')));
    await until(
      async () => ownersOf(await harness.get(CONFIG_MAP, 'shared')),
      (owners) => owners.length === 2,
    );
    const uid = (await harness.get(CONFIG_MAP, 'shared'))?.metadata.uid;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'foreign', uid: foreign.metadata.uid };
    const live = await harness.get(CONFIG_MAP, 'shared');
    await harness.cluster.mergePatch(
      CONFIG_MAP,
      { namespace: 'default', name: 'shared' },
      {
        metadata: { ownerReferences: [...(live?.metadata.ownerReferences ?? []), owner] },
      },
    );
    await harness.deleteWork('share-a');
    await until(
      () => harness.work('share-a'),
      (work) => work === undefined,
    );
    expect((await harness.get(CONFIG_MAP, 'shared'))?.metadata.uid).toBe(uid);
    await harness.deleteWork('share-b');
    await gone(CONFIG_MAP, 'shared');
  });

  it('what was orphaned by name survives; without the option it is owned again and goes', async () => {
    const orphan = (name: string) => ({
      deleteOption: {
        propagationPolicy: 'SelectivelyOrphan' as const,
        selectivelyOrphans: { orphaningRules: [{ resource: 'configmaps', name, namespace: 'default' }] },
      },
    });
    await harness.applyWork('orphan', {
      ...workOf(configMap('keep'), configMap('lose')),
      ...orphan('keep'),
    });
    await applied('orphan');
    expect(ownersOf(await harness.get(CONFIG_MAP, 'keep'))).toEqual([]);
    await harness.applyWork('orphan', workOf(configMap('keep'), configMap('lose')));
    await until(
      async () => ownersOf(await harness.get(CONFIG_MAP, 'keep')),
      (owners) => owners.length === 1,
    );
    await harness.applyWork('orphan', {
      ...workOf(configMap('keep'), configMap('lose')),
      ...orphan('keep'),
    });
    await until(
      async () => ownersOf(await harness.get(CONFIG_MAP, 'keep')),
      (owners) => owners.length === 0,
    );
    await harness.deleteWork('orphan');
    await until(
      () => harness.work('orphan'),
      (work) => work === undefined,
    );
    expect([await harness.get(CONFIG_MAP, 'keep'), await harness.get(CONFIG_MAP, 'lose')]).toEqual([
      expect.anything(),
      undefined,
    ]);
  });
});

describe('server-side apply', () => {
  const ssa = (manager: string, force: boolean): Partial<ManifestConfig> => ({
    updateStrategy: { type: 'ServerSideApply', serverSideApply: { force, fieldManager: manager } },
  });

  it('a second work takes over one field by force; the first keeps the others and says what it lost', async () => {
    const first = (
      replicas: number,
      image = 'registry.example.com/c:1',
    ): Parameters<ScenarioHarness['applyWork']>[1] => ({
      ...workOf(deployment('ssa', { replicas, image })),
      manifestConfigs: [config('deployments', 'ssa', ssa('work-agent', false), 'apps')],
    });
    await harness.applyWork('ssa-a', first(2));
    await applied('ssa-a');
    await harness.applyWork('ssa-b', {
      ...workOf(deployment('ssa', { image: 'registry.example.com/c:2' })),
      manifestConfigs: [config('deployments', 'ssa', ssa('work-agent-b', true), 'apps')],
    });
    await applied('ssa-b');
    await harness.applyWork('ssa-a', first(3));
    await applied('ssa-a', 'False/True');
    expect(ownersOf(await harness.get(DEPLOYMENT, 'ssa'))).toEqual(['ssa-a', 'ssa-b']);
    await harness.applyWork('ssa-a', first(3, 'registry.example.com/c:2'));
    await applied('ssa-a');
    expect(await harness.get(DEPLOYMENT, 'ssa')).toMatchObject({ spec: { replicas: 3 } });
    await harness.applyWork('ssa-b', {
      ...workOf(deployment('ssa', { image: 'registry.example.com/c:2' })),
      manifestConfigs: [config('deployments', 'ssa', ssa('work-agent-b', true), 'apps')],
      deleteOption: { propagationPolicy: 'Orphan' },
    });
    await until(
      async () => ownersOf(await harness.get(DEPLOYMENT, 'ssa')),
      (owners) => owners.join() === 'ssa-a',
    );
  });

  it('a variable left to the cluster by jq is applied once and never again', async () => {
    const jq = '.spec.template.spec.containers[].env[] | select(.name == "TUNED") | .value';
    const spec = (value: string, image: string): Parameters<ScenarioHarness['applyWork']>[1] => ({
      ...workOf(
        deployment('jq', {
          image,
          env: [
            { name: 'TUNED', value },
            { name: 'FIXED', value },
          ],
        }),
      ),
      manifestConfigs: [
        config(
          'deployments',
          'jq',
          {
            updateStrategy: {
              type: 'ServerSideApply',
              serverSideApply: {
                force: true,
                ignoreFields: [{ condition: 'OnSpokePresent', jqPathExpressions: [jq] }],
              },
            },
          },
          'apps',
        ),
      ],
    });
    await harness.applyWork('jq', spec('1', 'registry.example.com/c:1'));
    await applied('jq');
    const live = await harness.get(DEPLOYMENT, 'jq');
    await harness.cluster.apply(
      DEPLOYMENT,
      {
        ...deployment('jq', { env: [{ name: 'TUNED', value: 'local' }] }),
      },
      { fieldManager: 'tuner', force: true },
    );
    await harness.applyWork('jq', spec('2', 'registry.example.com/c:2'));
    await applied('jq');
    const env = (await until(
      () => harness.get(DEPLOYMENT, 'jq'),
      (now) => now?.metadata.generation !== live?.metadata.generation,
    )) as unknown as {
      spec: {
        template: { spec: { containers: [{ env: { name: string; value?: string }[]; image: string }] } };
      };
    };
    expect(env.spec.template.spec.containers[0].env).toEqual([
      { name: 'TUNED', value: 'local' },
      { name: 'FIXED', value: '2' },
    ]);
  });

  it('jq that does not parse is named in the condition', async () => {
    await harness.applyWork('bad-jq', {
      ...workOf(configMap('bad-jq')),
      manifestConfigs: [
        config('configmaps', 'bad-jq', {
          updateStrategy: {
            type: 'ServerSideApply',
            serverSideApply: {
              ignoreFields: [{ condition: 'OnSpokePresent', jqPathExpressions: ['.data['] }],
            },
          },
        }),
      ],
    });
    await applied('bad-jq', 'False/False');
    const manifest = (await harness.work('bad-jq'))?.status?.resourceStatus?.manifests?.[0];
    expect(manifest?.conditions?.[0]).toMatchObject({
      reason: 'AppliedManifestSSAIgnoreFieldError',
      message: expect.stringContaining('.data['),
    });
  });

  it('a work inside a work is not touched again for its null times', async () => {
    const inner = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'inner', namespace: 'default', creationTimestamp: null },
      spec: {
        workload: {
          manifests: [
            {
              ...configMap('never'),
              metadata: { name: 'never', namespace: 'default', creationTimestamp: null },
            },
          ],
        },
      },
    } as unknown as KubeObject;
    await harness.applyWork('outer', {
      ...workOf(inner),
      manifestConfigs: [
        {
          resourceIdentifier: {
            group: 'work.open-cluster-management.io',
            resource: 'manifestworks',
            name: 'inner',
            namespace: 'default',
          },
          ...ssa('work-agent', true),
        },
      ],
    });
    await applied('outer');
    await harness.applyWork('outer', (await harness.work('outer'))?.spec ?? {}, { labels: { again: '1' } });
    await until(
      async () => (await harness.applied('outer'))[0]?.metadata.labels?.['again'],
      (got) => got === '1',
    );
    expect(
      (await harness.cluster.get(MANIFEST_WORK, { namespace: 'default', name: 'inner' }))?.metadata
        .generation,
    ).toBe(1);
  });
});

describe('feedback', () => {
  it('comes long before the next poll, for cluster-scoped objects too', async () => {
    await harness.applyWork('phase', {
      ...workOf(object(NAMESPACE, 'phase')),
      manifestConfigs: [
        {
          resourceIdentifier: { resource: 'namespaces', name: 'phase' },
          feedbackRules: [
            { type: 'JSONPaths', jsonPaths: [{ name: 'team', path: '.metadata.labels.team' }] },
          ],
        },
      ],
    });
    await applied('phase');
    await harness.cluster.mergePatch(
      NAMESPACE,
      { namespace: '', name: 'phase' },
      { metadata: { labels: { team: 'blue' } } },
    );
    const values = async (): Promise<unknown> =>
      (await harness.work('phase'))?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values?.[0]
        ?.fieldValue;
    await until(values, (got) => JSON.stringify(got) === '{"type":"String","string":"blue"}');
  });
});

describe('executors', () => {
  it('without the right to delete: refused when owned, applied when orphaned, one by one', async () => {
    const verbs = ['create', 'update', 'patch', 'get'];
    await harness.grant('nodelete', [{ apiGroups: [''], resources: ['configmaps'], verbs }]);
    const works = workOf(configMap('nd-a'), configMap('nd-b'));
    await harness.applyWork('nodelete', { ...works, ...executor('nodelete') });
    await applied('nodelete', 'False/False');
    await harness.applyWork('nodelete', {
      ...works,
      ...executor('nodelete'),
      deleteOption: {
        propagationPolicy: 'SelectivelyOrphan',
        selectivelyOrphans: {
          orphaningRules: [{ resource: 'configmaps', name: 'nd-a', namespace: 'default' }],
        },
      },
    });
    await until(
      () => harness.verdict('nodelete', 0),
      (got) => got === 'True/True',
    );
    expect(await harness.verdict('nodelete', 1)).toBe('False/False');
    await harness.applyWork('nodelete', {
      ...works,
      ...executor('nodelete'),
      deleteOption: { propagationPolicy: 'Orphan' },
    });
    await applied('nodelete');
  });

  it('RBAC objects that grant more than the executor has are refused, also when they exist', async () => {
    const verbs = ['create', 'update', 'patch', 'get', 'delete'];
    const all = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs };
    await harness.grant('climber', [all]);
    const strong = object(ROLE, 'strong', {
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    });
    await harness.create(ROLE, strong);
    await harness.applyWork('climber', { ...workOf(strong), ...executor('climber') });
    await applied('climber', 'False/True');
    expect(
      (await harness.work('climber'))?.status?.resourceStatus?.manifests?.[0]?.conditions?.[0]?.message,
    ).toContain('permission escalation');
    await harness.cluster.mergePatch(
      ROLE,
      { namespace: 'default', name: 'climber' },
      {
        rules: [all, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
      },
    );
    await harness.applyWork(
      'climber',
      { ...workOf(strong), ...executor('climber') },
      { labels: { again: '1' } },
    );
    await applied('climber');
  });
});

describe('other hubs and other agents', () => {
  it('another agent on another hub: both own the object, the last one takes it away', async () => {
    await harness.applyWork('hubs', workOf(configMap('hubs')));
    await applied('hubs');
    const second = await harness.agent({ hub: harness.secondHub, agentId: 'second' });
    await harness.applyWork('hubs', workOf(configMap('hubs')), { hub: harness.secondHub });
    await until(
      async () => ownersOf(await harness.get(CONFIG_MAP, 'hubs')),
      (owners) => owners.length === 2,
    );
    await harness.deleteWork('hubs');
    await until(
      () => harness.work('hubs'),
      (work) => work === undefined,
    );
    expect(ownersOf(await harness.get(CONFIG_MAP, 'hubs'))).toHaveLength(1);
    await harness.secondHub.delete(MANIFEST_WORK, { namespace: 'cluster1', name: 'hubs' });
    await gone(CONFIG_MAP, 'hubs');
    await second.close();
  });

  it('the same agent on a new hub: the old record is evicted, the object stays', async () => {
    const clock = new SteeredClock();
    const own = { agentId: 'moving', clusterName: 'moving', clock, evictionGraceMs: 3_600_000 };
    for (const hub of [harness.hub, harness.secondHub])
      await hub.create(NAMESPACE, object(NAMESPACE, 'moving'));
    const put = (hub: typeof harness.hub): Promise<KubeObject> =>
      hub.create(MANIFEST_WORK, {
        apiVersion: 'work.open-cluster-management.io/v1',
        kind: 'ManifestWork',
        metadata: { name: 'move', namespace: 'moving' },
        spec: workOf(configMap('move')),
      });
    const old = await harness.agent(own);
    await put(harness.hub);
    const before = await present(CONFIG_MAP, 'move');
    await until(
      () => harness.applied('move'),
      ([first]) => (first?.status?.appliedResources ?? []).length === 1,
    );
    await old.close();
    const next = await harness.agent({ ...own, hub: harness.secondHub });
    await put(harness.secondHub);
    await until(
      () => harness.applied('move'),
      (list) => list.length === 2,
    );
    await until(
      () => harness.applied('move'),
      (list) => list.some(({ status }) => status?.evictionStartTime !== undefined),
    );
    clock.skip(3_600_000);
    await until(
      () => harness.applied('move'),
      (list) => list.length === 1,
    );
    const after = await harness.get(CONFIG_MAP, 'move');
    expect([after?.metadata.uid, ownersOf(after)]).toEqual([before.metadata.uid, ['move']]);
    await next.close();
  });
});
