import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '@berth/agent/start-agent';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestConfig, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import {
  CLUSTER,
  CONFIG_MAP,
  configMap,
  executor,
  kindOf,
  NAMESPACE,
  object,
  ROLE,
  ROLE_BINDING,
  ScenarioHarness,
  until,
  workOf,
} from '../conformance/agent/scenario-harness.ts';

// A tenant may write works on the hub, within the limits of an executor. The agent itself may do anything on the cluster.

const SECRET = kindOf('', 'Secret');
const DATA = 'c3VwZXItc2VjcmV0';
const ALL_VERBS = ['create', 'update', 'patch', 'get', 'delete'];
const RBAC = 'rbac.authorization.k8s.io';

let harness: ScenarioHarness;
let agent: Agent;

beforeAll(async () => {
  harness = await ScenarioHarness.start();
  await harness.hub.create(NAMESPACE, object(NAMESPACE, CLUSTER));
  agent = await harness.agent({ feedback: { rawJson: true } });
});

afterAll(async () => {
  await agent?.close();
  await harness?.close();
});

const configMaps = (verbs: readonly string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }];

/** As `kubectl apply` leaves it: the data is in an annotation as well. */
const secret = (name: string): KubeObject =>
  object(
    SECRET,
    name,
    { data: { password: DATA } },
    {
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"password":"${DATA}"}}` },
    },
  );

const config = (
  resource: string,
  name: string,
  more: Omit<ManifestConfig, 'resourceIdentifier'>,
): ManifestConfig => ({ resourceIdentifier: { resource, name, namespace: 'default' }, ...more });

const READ_ONLY = { updateStrategy: { type: 'ReadOnly' } } as const;
const feedback = (...paths: readonly string[]): Pick<ManifestConfig, 'feedbackRules'> => ({
  feedbackRules: [
    { type: 'JSONPaths', jsonPaths: paths.map((path, index) => ({ name: `v${String(index)}`, path })) },
  ],
});

/** The work's status once the agent has looked at each of its manifests in the present version. */
async function statusOf(name: string): Promise<string> {
  await until(
    () => harness.verdict(name),
    (verdict) => verdict !== 'old' && !verdict.endsWith('undefined'),
  );
  return JSON.stringify((await harness.work(name))?.status);
}

async function condition(name: string, type: string, ordinal = 0): Promise<Condition | undefined> {
  const manifest = (await harness.work(name))?.status?.resourceStatus?.manifests?.[ordinal];
  return manifest?.conditions?.find((one) => one.type === type);
}

const valuesOf = async (name: string) =>
  (await harness.work(name))?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values;

describe('a work whose executor may not get an object', () => {
  it.each(['ReadOnly', 'ServerSideApply'] as const)('reports nothing of a Secret under %s', async (type) => {
    const name = `peek-${type.toLowerCase()}`;
    await harness.create(SECRET, secret(name));
    await harness.applyWork(name, {
      ...workOf(object(SECRET, name)),
      ...executor('nobody'),
      manifestConfigs: [
        config('secrets', name, {
          updateStrategy: { type },
          ...feedback('.data.password', '.metadata.annotations', '.'),
          conditionRules: [
            {
              condition: 'Seen',
              type: 'CEL',
              celExpressions: ['true'],
              messageExpression: 'object.data.password',
            },
          ],
        }),
      ],
    });
    const status = await statusOf(name);
    expect(status).not.toContain(DATA);
    const problem = `executor default/nobody is not allowed to get the resource  secrets, default ${name}`;
    for (const type of ['Available', 'StatusFeedbackSynced'])
      expect(await condition(name, type)).toMatchObject({ reason: 'ExecutorNotAllowed', message: problem });
    expect(await condition(name, 'Seen')).toBeUndefined();
    expect(await valuesOf(name)).toBeUndefined();
  });

  it('does not say whether the object exists', async () => {
    await harness.create(CONFIG_MAP, configMap('there'));
    const seen: unknown[] = [];
    for (const name of ['there', 'missing']) {
      await harness.applyWork(`exists-${name}`, {
        ...workOf(configMap(name)),
        ...executor('nobody'),
        manifestConfigs: [config('configmaps', name, READ_ONLY)],
      });
      await statusOf(`exists-${name}`);
      const { status, reason } = (await condition(`exists-${name}`, 'Available')) as Condition;
      seen.push({ status, reason });
    }
    expect(seen[0]).toEqual({ status: 'Unknown', reason: 'ExecutorNotAllowed' });
    expect(seen[1]).toEqual(seen[0]);
  });

  it('reports no object that somebody wrote into its status', async () => {
    await harness.grant('forger', configMaps(ALL_VERBS));
    await harness.create(CONFIG_MAP, configMap('elsewhere', { x: 'not-for-tenants' }, 'kube-system'));
    await harness.applyWork('forged', {
      ...workOf(configMap('forged')),
      ...executor('forger'),
      manifestConfigs: [
        { resourceIdentifier: { resource: 'configmaps', name: '*', namespace: '*' }, ...feedback('.data.x') },
      ],
    });
    await statusOf('forged');
    const work = await harness.work('forged');
    const manifests = (work?.status?.resourceStatus?.manifests ?? []).map((manifest) => ({
      ...manifest,
      resourceMeta: { ...manifest.resourceMeta, namespace: 'kube-system', name: 'elsewhere' },
    }));
    const key = { namespace: CLUSTER, name: 'forged' };
    const forged = { status: { resourceStatus: { manifests } } };
    await harness.hub.mergePatch(MANIFEST_WORK, key, forged, { subresource: 'status' });
    await until(
      () => condition('forged', 'Available'),
      (available) => available?.reason !== 'ResourceAvailable',
    );
    expect(await statusOf('forged')).not.toContain('not-for-tenants');
  });

  it.each([
    { name: 'empty', value: {} },
    { name: 'without-account', value: { subject: { type: 'ServiceAccount' } } },
  ])('counts as refused when the executor is $name', async ({ name, value }) => {
    await harness.create(CONFIG_MAP, configMap(`odd-${name}`, { x: 'untouched' }));
    await harness.applyWork(`odd-${name}`, {
      ...workOf(configMap(`odd-${name}`)),
      executor: value as NonNullable<ManifestWorkSpec['executor']>,
      manifestConfigs: [config('configmaps', `odd-${name}`, feedback('.data.x'))],
    });
    expect(await statusOf(`odd-${name}`)).not.toContain('untouched');
    expect(await harness.verdict(`odd-${name}`)).toBe('False/Unknown');
    expect((await harness.get(CONFIG_MAP, `odd-${name}`))?.['data']).toEqual({ x: 'untouched' });
  });
});

describe('rights that change', () => {
  it('show an object when they are granted, and hide it again when they are revoked', async () => {
    await harness.create(CONFIG_MAP, configMap('revoked', { x: 'mine' }));
    const spec = {
      ...workOf(configMap('revoked')),
      ...executor('revoked'),
      manifestConfigs: [
        config('configmaps', 'revoked', {
          ...READ_ONLY,
          ...feedback('.data.x'),
          conditionRules: [
            {
              condition: 'Filled',
              type: 'CEL',
              celExpressions: ['true'],
              messageExpression: 'object.data.x',
            },
          ],
        }),
      ],
    } as const;
    await harness.applyWork('revoked', spec);
    expect(await statusOf('revoked')).not.toContain('mine');
    await harness.grant('revoked', configMaps(ALL_VERBS));
    // A touched work is applied again at once, which asks for the executor's rights again.
    await harness.applyWork('revoked', spec, { labels: { touched: '1' } });
    await until(
      () => valuesOf('revoked'),
      (values) => values !== undefined,
    );
    expect(await condition('revoked', 'Filled')).toMatchObject({ status: 'True', message: 'mine' });
    await harness.cluster.delete(ROLE_BINDING, { namespace: 'default', name: 'revoked' });
    await harness.applyWork('revoked', spec, { labels: { touched: '2' } });
    await until(
      () => valuesOf('revoked'),
      (values) => values === undefined,
    );
    expect(await condition('revoked', 'StatusFeedbackSynced')).toMatchObject({
      status: 'False',
      reason: 'ExecutorNotAllowed',
    });
    expect(JSON.stringify((await harness.work('revoked'))?.status)).not.toContain('mine');
    expect(await condition('revoked', 'Filled')).toMatchObject({ status: 'True' });
  });
});

describe("a Secret's data", () => {
  const paths = [
    '.data.password',
    '.data',
    '.',
    '..password',
    '.data[?(@>"c")]',
    '.metadata.annotations',
    String.raw`.metadata.annotations['kubectl\.kubernetes\.io/last-applied-configuration']`,
    '.metadata.managedFields',
  ];

  it.each(paths)('is no feedback by the path %s, also without an executor', async (path) => {
    const name = `leak-${String(paths.indexOf(path))}`;
    await harness.create(SECRET, secret(name));
    await harness.applyWork(name, {
      ...workOf(object(SECRET, name)),
      manifestConfigs: [config('secrets', name, { ...READ_ONLY, ...feedback(path, '.type') })],
    });
    const status = await statusOf(name);
    expect(status).not.toContain(DATA);
    expect(status).not.toContain('password\\"');
    expect(await valuesOf(name)).toContainEqual({
      name: 'v1',
      fieldValue: { type: 'String', string: 'Opaque' },
    });
  });

  it('is explained where it is asked for', async () => {
    await harness.create(SECRET, secret('explained'));
    await harness.applyWork('explained', {
      ...workOf(object(SECRET, 'explained')),
      manifestConfigs: [config('secrets', 'explained', { ...READ_ONLY, ...feedback('.data.password') })],
    });
    await statusOf('explained');
    expect(await condition('explained', 'StatusFeedbackSynced')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('the data and the annotations of a Secret are not reported') as string,
    });
  });

  it('cannot be guessed by a condition rule, nor quoted in its message', async () => {
    await harness.create(SECRET, secret('guessed'));
    const rule = (condition: string, celExpressions: string[], messageExpression = '') => ({
      condition,
      type: 'CEL' as const,
      celExpressions,
      ...(messageExpression === '' ? {} : { messageExpression }),
    });
    await harness.applyWork('guessed', {
      ...workOf(object(SECRET, 'guessed')),
      manifestConfigs: [
        config('secrets', 'guessed', {
          ...READ_ONLY,
          conditionRules: [
            rule('Right', [`object.data.password == "${DATA}"`]),
            rule('Wrong', [`object.data.password == "guess"`]),
            rule('Prefix', [
              `object.metadata.annotations.exists(k, object.metadata.annotations[k].contains("${DATA}"))`,
            ]),
            rule('Quoted', ['true'], 'string(object.data.password)'),
          ],
        }),
      ],
    });
    expect(await statusOf('guessed')).not.toContain(DATA.slice(0, -1) + '"}');
    const verdicts = await Promise.all(
      ['Right', 'Wrong', 'Prefix'].map((type) => condition('guessed', type)),
    );
    expect(verdicts.map((one) => one?.status)).toEqual(['False', 'False', 'False']);
    expect(verdicts[0]?.message).toBe(verdicts[1]?.message);
    expect((await condition('guessed', 'Quoted'))?.message).not.toContain(DATA);
  });
});

describe('an executor within its limits', () => {
  const ssa = (name: string, jqPathExpressions: readonly string[], jsonPointers: readonly string[] = []) => ({
    updateStrategy: {
      type: 'ServerSideApply' as const,
      serverSideApply: {
        force: true,
        ignoreFields: [{ condition: 'OnSpokePresent' as const, jqPathExpressions, jsonPointers }],
      },
    },
    name,
  });

  it.each([
    { name: 'another-name', change: '.metadata.name = "target"' },
    { name: 'another-namespace', change: '.metadata.namespace = "kube-system"' },
    { name: 'another-value', change: '.data.x = "changed"' },
  ])('cannot turn the checked manifest into $name by a jq expression', async ({ name, change }) => {
    await harness.grant(name, [{ ...configMaps(ALL_VERBS)[0], resourceNames: [name] }]);
    await harness.create(CONFIG_MAP, configMap(name, { x: 'before' }));
    for (const [target, namespace] of [
      ['target', 'default'],
      [name, 'kube-system'],
    ] as const)
      if ((await harness.get(CONFIG_MAP, target, namespace)) === undefined)
        await harness.create(CONFIG_MAP, configMap(target, { x: 'theirs' }, namespace));
    const { updateStrategy } = ssa(name, [`.data.none) | ${change} | del(.data.none`]);
    await harness.applyWork(name, {
      ...workOf(configMap(name, { x: 'tenant' })),
      ...executor(name),
      manifestConfigs: [config('configmaps', name, { updateStrategy })],
    });
    await statusOf(name);
    expect((await harness.get(CONFIG_MAP, 'target'))?.['data']).toEqual({ x: 'theirs' });
    expect((await harness.get(CONFIG_MAP, name, 'kube-system'))?.['data']).toEqual({ x: 'theirs' });
    expect(await condition(name, 'Applied')).toMatchObject({ reason: 'AppliedManifestSSAIgnoreFieldError' });
  });

  it('cannot join a binding to a stronger role by leaving out which role it is', async () => {
    await harness.grant('joiner', [
      { apiGroups: [RBAC], resources: ['rolebindings'], verbs: ALL_VERBS },
      ...configMaps(['get']),
    ]);
    const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    await harness.create(ROLE, object(ROLE, 'strong', { rules: secrets }));
    await harness.create(ROLE, object(ROLE, 'weak', { rules: configMaps(['get']) }));
    const binding = (role: string, account: string): KubeObject =>
      object(ROLE_BINDING, 'join', {
        roleRef: { apiGroup: RBAC, kind: 'Role', name: role },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
      });
    await harness.create(ROLE_BINDING, binding('strong', 'trusted'));
    const { updateStrategy } = ssa('join', [], ['/roleRef']);
    await harness.applyWork('join', {
      ...workOf(binding('weak', 'joiner')),
      ...executor('joiner'),
      manifestConfigs: [
        {
          resourceIdentifier: { group: RBAC, resource: 'rolebindings', name: 'join', namespace: 'default' },
          updateStrategy,
        },
      ],
    });
    await statusOf('join');
    expect((await harness.get(ROLE_BINDING, 'join'))?.['subjects']).toEqual([
      { kind: 'ServiceAccount', name: 'trusted', namespace: 'default' },
    ]);
  });

  it('cannot widen a role by leaving out the names that it is limited to', async () => {
    const mine = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['mine'] };
    await harness.grant('widener', [{ apiGroups: [RBAC], resources: ['roles'], verbs: ALL_VERBS }, mine]);
    await harness.create(ROLE, object(ROLE, 'wide', { rules: [mine] }));
    const { updateStrategy } = ssa('wide', [], ['/rules/0/resourceNames']);
    await harness.applyWork('wide', {
      ...workOf(object(ROLE, 'wide', { rules: [mine] }, { labels: { a: '1' } })),
      ...executor('widener'),
      manifestConfigs: [
        {
          resourceIdentifier: { group: RBAC, resource: 'roles', name: 'wide', namespace: 'default' },
          updateStrategy,
        },
      ],
    });
    await statusOf('wide');
    expect((await harness.get(ROLE, 'wide'))?.['rules']).toEqual([mine]);
    expect(await harness.verdict('wide', 0)).toBe('False/True');
  });

  it('cannot have an object replaced when it may not delete it', async () => {
    const verbs = ['create', 'update', 'patch', 'get'];
    await harness.grant('replacer', [{ apiGroups: [''], resources: ['secrets'], verbs }]);
    const made = await harness.create(
      SECRET,
      object(SECRET, 'replaced', { type: 'a', data: { password: DATA } }),
    );
    await harness.applyWork('replaced', {
      ...workOf(object(SECRET, 'replaced', { type: 'b' })),
      ...executor('replacer'),
      deleteOption: { propagationPolicy: 'Orphan' },
    });
    await statusOf('replaced');
    expect((await harness.get(SECRET, 'replaced'))?.metadata.uid).toBe(made.metadata.uid);
    expect((await condition('replaced', 'Applied'))?.message).toContain(
      'the executor has no right to delete it',
    );
  });

  it('cannot have an object deleted by orphaning it first and owning it later', async () => {
    await harness.grant('keeper', configMaps(['create', 'update', 'patch', 'get']));
    await harness.create(CONFIG_MAP, configMap('kept'));
    const spec = { ...workOf(configMap('kept')), ...executor('keeper') };
    await harness.applyWork('kept', { ...spec, deleteOption: { propagationPolicy: 'Orphan' } });
    await until(
      () => harness.verdict('kept'),
      (verdict) => verdict === 'True/True',
    );
    await harness.applyWork('kept', spec);
    await until(
      () => harness.verdict('kept'),
      (verdict) => verdict === 'False/True',
    );
    await harness.applyWork('kept', { ...workOf(configMap('kept-other')), ...executor('keeper') });
    await until(
      () => harness.verdict('kept'),
      (verdict) => verdict === 'False/False',
    );
    await harness.deleteWork('kept');
    await until(
      () => harness.work('kept'),
      (work) => work === undefined,
    );
    expect(await harness.get(CONFIG_MAP, 'kept')).toBeDefined();
  });

  it('cannot delete what it only reads, nor what another work owns', async () => {
    await harness.grant('reader', configMaps(ALL_VERBS));
    await harness.create(CONFIG_MAP, configMap('only-read'));
    await harness.applyWork('owner', workOf(configMap('owned')));
    await until(
      () => harness.verdict('owner'),
      (verdict) => verdict === 'True/True',
    );
    await harness.applyWork('reader', {
      ...workOf(configMap('only-read'), configMap('owned')),
      ...executor('reader'),
      manifestConfigs: [config('configmaps', '*', READ_ONLY)],
    });
    await until(
      () => harness.verdict('reader'),
      (verdict) => verdict === 'True/True',
    );
    await harness.deleteWork('reader');
    await until(
      () => harness.work('reader'),
      (work) => work === undefined,
    );
    expect(await harness.get(CONFIG_MAP, 'only-read')).toBeDefined();
    expect(await harness.get(CONFIG_MAP, 'owned')).toBeDefined();
  });

  it.each(['List', 'SecretList'])('sees no objects by a manifest of kind %s', async (kind) => {
    await harness.create(SECRET, secret(`in-${kind.toLowerCase()}`));
    await harness.applyWork(`lists-${kind.toLowerCase()}`, {
      ...workOf({ apiVersion: 'v1', kind, metadata: { name: 'all', namespace: 'default' } }),
      ...executor('nobody'),
      manifestConfigs: [
        {
          resourceIdentifier: { resource: '*', name: '*', namespace: '*' },
          ...feedback('..password', '.items'),
        },
      ],
    });
    const status = await statusOf(`lists-${kind.toLowerCase()}`);
    expect(status).not.toContain(DATA);
    expect(status).toContain('AppliedManifestFailed');
  });
});
