import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { hubAdmission, type HubAdmissionOptions } from '../../src/controllers/admission/hub-admission.ts';
import { errorText } from '@berth/runtime/errors';
import { type KindInfo, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { ROLE, ROLE_BINDING } from '../conformance/agent/scenario-harness.ts';

// A tenant who may write works, but act as one service account only.

const WORK_GROUP = 'work.open-cluster-management.io';
const HOME = 'cluster1';
const RUNNER = 'system:serviceaccount:team:runner';
const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'team' } }];
const as = (namespace: string, name: string) => ({
  subject: { type: 'ServiceAccount', serviceAccount: { namespace, name } },
});
const NIL_REFUSED =
  'user tenant cannot manipulate the Manifestwork with executor /klusterlet-work-sa in namespace cluster1';

type Hub = Awaited<ReturnType<typeof startEmbeddedHub>>;
const open: Hub[] = [];
const clients: HttpKubeApi[] = [];
let hub: Hub;
let tenant: KubeApi;

beforeAll(async () => {
  hub = await hubWith({});
  tenant = await tenantOf(hub, [RUNNER]);
});

afterAll(async () => {
  for (const client of clients) client.close();
  for (const one of open) await one.close();
});

async function hubWith(options: HubAdmissionOptions): Promise<Hub> {
  const started = await startEmbeddedHub({}, { admission: hubAdmission(options) });
  open.push(started);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } };
  await started.api.create(NAMESPACE, namespace);
  return started;
}

/** A user who may do everything with works and replica sets, and `execute-as` the accounts given. */
async function tenantOf({ api, kubeconfig }: Hub, accounts: readonly string[]): Promise<KubeApi> {
  const metadata = { name: 'tenant', namespace: HOME };
  const works = { apiGroups: [WORK_GROUP], resources: ['manifestworks', 'manifestworkreplicasets'] };
  const rules = [
    { ...works, verbs: ['get', 'create', 'update', 'patch', 'delete'] },
    { ...works, verbs: ['execute-as'], resourceNames: accounts },
  ];
  const apiVersion = `${ROLE.group}/v1`;
  await api.create(ROLE, { apiVersion, kind: 'Role', metadata, rules });
  await api.create(ROLE_BINDING, {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: ROLE.group, kind: 'Role', name: 'tenant' },
    subjects: [{ apiGroup: ROLE.group, kind: 'User', name: 'tenant' }],
  });
  const config = loadKubeConfig({ file: kubeconfig });
  const client = new HttpKubeApi({ config, clock: systemClock, impersonate: { user: 'tenant', groups: [] } });
  clients.push(client);
  return client;
}

const KINDS = [
  { name: 'work', kind: MANIFEST_WORK },
  { name: 'replica set', kind: MANIFEST_WORK_REPLICA_SET },
] as const;

function objectOf(kind: KindInfo, name: string, executor: unknown): KubeObject {
  const work = { workload: { manifests }, ...(executor === undefined ? {} : { executor }) };
  const spec = kind === MANIFEST_WORK ? work : { manifestWorkTemplate: work, placementRefs: [{ name: 'p' }] };
  return {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name, namespace: HOME },
    spec,
  };
}

const patchOf = (kind: KindInfo, executor: unknown): object =>
  kind === MANIFEST_WORK ? { spec: { executor } } : { spec: { manifestWorkTemplate: { executor } } };

/** `ok`, or what the hub said. */
async function verdict(act: Promise<unknown>): Promise<string> {
  return act.then(
    () => 'ok',
    (error: unknown) => errorText(error),
  );
}

describe.each(KINDS)('a $name', ({ name: what, kind }) => {
  const named = (name: string): string => `${name}-${what.replace(' ', '-')}`;
  const key = (name: string) => ({ namespace: HOME, name: named(name) });

  it('is not freed of its executor by a user who may not act as the agent', async () => {
    const object = objectOf(kind, named('free'), as('team', 'runner'));
    expect(await verdict(tenant.create(kind, object))).toBe('ok');
    expect(await verdict(tenant.mergePatch(kind, key('free'), patchOf(kind, null)))).toContain(NIL_REFUSED);
    const { metadata, ...without } = objectOf(kind, named('free'), undefined);
    const resourceVersion = (await hub.api.get(kind, key('free')))?.metadata.resourceVersion;
    const put = { ...without, metadata: { ...metadata, resourceVersion } } as KubeObject;
    expect(await verdict(tenant.update(kind, put))).toContain(NIL_REFUSED);
    const stored = (await hub.api.get(kind, key('free')))?.['spec'];
    expect(JSON.stringify(stored)).toContain('"runner"');
  });

  it('is not freed of it by the field manager that applied it and now leaves it out', async () => {
    const options = { fieldManager: 'tenant', force: true };
    const apply = (executor: unknown) => tenant.apply(kind, objectOf(kind, named('ssa'), executor), options);
    expect(await verdict(apply(as('team', 'runner')))).toBe('ok');
    expect(await verdict(apply(undefined))).toContain(NIL_REFUSED);
  });

  it('is not made without an executor', async () => {
    const object = objectOf(kind, named('nil'), undefined);
    expect(await verdict(tenant.create(kind, object))).toContain(NIL_REFUSED);
    expect(await verdict(tenant.apply(kind, object, { fieldManager: 'tenant', force: true }))).toContain(
      NIL_REFUSED,
    );
    const empty = objectOf(kind, named('nil'), null);
    expect(await verdict(tenant.create(kind, empty))).toContain(NIL_REFUSED);
  });

  it("does not name another namespace's account", async () => {
    const object = objectOf(kind, named('other'), as('kube-system', 'runner'));
    expect(await verdict(tenant.create(kind, object))).toContain('with executor kube-system/runner');
    const mine = objectOf(kind, named('other'), as('team', 'runner'));
    expect(await verdict(tenant.create(kind, mine))).toBe('ok');
    const stronger = patchOf(kind, as('team', 'admin'));
    expect(await verdict(tenant.mergePatch(kind, key('other'), stronger))).toContain(
      'with executor team/admin',
    );
  });

  it.each([
    { name: 'no subject', executor: {}, want: 'executor service account can not be nil' },
    {
      name: 'no service account',
      executor: { subject: { type: 'ServiceAccount' } },
      want: 'executor service account can not be nil',
    },
    { name: 'no type', executor: { subject: {} }, want: 'subject.type: Required value' },
    { name: 'another type', executor: { subject: { type: 'User' } }, want: 'Unsupported value: "User"' },
    { name: 'a name of several parts', executor: as('team', 'runner:x'), want: 'Invalid value' },
    { name: 'an empty namespace', executor: as('', 'klusterlet-work-sa'), want: 'Invalid value' },
  ])('is not made with an executor of $name, even by an administrator', async ({ executor, want }) => {
    expect(await verdict(hub.api.create(kind, objectOf(kind, named('odd'), executor)))).toContain(want);
  });

  it('changes in every other way without the right to act as its executor', async () => {
    expect(await verdict(hub.api.create(kind, objectOf(kind, named('old'), undefined)))).toBe('ok');
    const touch = { metadata: { labels: { touched: '1' }, finalizers: ['example.com/kept'] } };
    expect(await verdict(tenant.mergePatch(kind, key('old'), touch))).toBe('ok');
    expect(await verdict(tenant.mergePatch(kind, key('old'), { metadata: { finalizers: null } }))).toBe('ok');
  });
});

describe('a hub', () => {
  it("lets users leave the executor out who may act as the agent's account", async () => {
    const other = await hubWith({});
    const trusted = await tenantOf(other, ['system:serviceaccount::klusterlet-work-sa']);
    expect(await verdict(trusted.create(MANIFEST_WORK, objectOf(MANIFEST_WORK, 'w', undefined)))).toBe('ok');
    const named = objectOf(MANIFEST_WORK, 'x', as('team', 'runner'));
    expect(await verdict(trusted.create(MANIFEST_WORK, named))).toContain('with executor team/runner');
  });

  it('with --allow-works-without-executor lets everybody leave it out, and still checks who is named', async () => {
    const plain = await hubWith({ withoutExecutor: 'anyone' });
    const user = await tenantOf(plain, [RUNNER]);
    expect(await verdict(user.create(MANIFEST_WORK, objectOf(MANIFEST_WORK, 'w', undefined)))).toBe('ok');
    const named = objectOf(MANIFEST_WORK, 'x', as('team', 'admin'));
    expect(await verdict(user.create(MANIFEST_WORK, named))).toContain('with executor team/admin');
    expect(await verdict(user.create(MANIFEST_WORK, objectOf(MANIFEST_WORK, 'y', {})))).toContain(
      'can not be nil',
    );
  });
});
