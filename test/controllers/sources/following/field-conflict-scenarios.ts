import { beforeEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import type { HubSyncOptions } from '../../../../src/controllers/sources/following/hub-sync-options.ts';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import { CONFIG_MAP, MANAGED_CLUSTER, kind, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { LEFT_FIELDS_ANNOTATION } from '../../../../src/core/sync/left-fields.ts';
import { hubSyncFor, type OnlySource } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

const SERVICE = kind('', 'v1', 'Service', 'Namespaced');
const REGION = '.metadata.labels.example.com/region';

/**
 * Fields that another manager owns, on a hub with the kinds of OCM: the same on the embedded one
 * and on kube-apiserver.
 * @param hub read in each test
 */
export function conflictsOverFields(hub: () => KubeApi): void {
  let turn = 0;
  let name: string;
  let writes: string[];
  beforeEach(() => {
    turn += 1;
    name = `conflict-${String(turn)}`;
    writes = [];
  });

  const syncOf = (more: Partial<HubSyncOptions> = {}): OnlySource =>
    hubSyncFor({
      api: interceptedApi(hub(), (method, args) => {
        if (['apply', 'create', 'update', 'mergePatch', 'delete'].includes(method))
          writes.push(`${method} ${(args[1] as KubeObject).metadata?.name ?? ''}`);
      }),
      source: name,
      declarations: new SourceDeclarations(systemClock, [{ name, force: false }]),
      ...more,
    });
  const inGit = (...objects: KubeObject[]) => ({
    complete: true,
    objects: objects.map((object) => ({ object, location: { file: 'a.yaml', line: 1, column: 1 } })),
  });
  const cluster = (labels: Record<string, string>): KubeObject => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name, labels },
    spec: { hubAcceptsClient: false },
  });
  const configMap = (data: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data,
  });
  const read = async (kind: KindInfo): Promise<KubeObject> =>
    (await hub().get(kind, { namespace: kind.namespaced ? 'default' : '', name })) as KubeObject;
  const labels = async () => (await read(MANAGED_CLUSTER)).metadata.labels;
  const edit = (kind: KindInfo, patch: object, fieldManager: string) =>
    hub().mergePatch(kind, { namespace: kind.namespaced ? 'default' : '', name }, patch, { fieldManager });
  const region = (value: string | null) => ({ metadata: { labels: { 'example.com/region': value } } });

  it('a field of a controller stays and is named; all else is applied; the field is Git’s when the controller gives it up', async () => {
    await hub().apply(MANAGED_CLUSTER, cluster({ 'example.com/region': 'eu' }), { fieldManager: 'operator' });
    const git = inGit(cluster({ 'example.com/region': 'us', tier: '1' }));
    const sync = syncOf();
    const first = await sync.sync(git);
    const problem = {
      object: `ManagedCluster ${name}`,
      message: `fields belong to another manager and stay unchanged, everything else is applied: ${REGION} (operator)`,
      retry: false,
    };
    expect(first).toMatchObject({ applied: 1, problems: [problem] });
    expect(await labels()).toMatchObject({ 'example.com/region': 'eu', tier: '1' });
    const { metadata } = await read(MANAGED_CLUSTER);
    expect(metadata.annotations?.[LEFT_FIELDS_ANNOTATION]).toBe(JSON.stringify([REGION]));

    // Nothing is sent again, and the report is the same; also after a restart.
    for (const later of [sync, syncOf()]) {
      writes = [];
      expect(await later.sync(git)).toMatchObject({ applied: 0, unchanged: 1, problems: first.problems });
      expect(writes).toEqual([]);
    }
    expect((await read(MANAGED_CLUSTER)).metadata.resourceVersion).toBe(metadata.resourceVersion);

    // What changes in Git meanwhile is applied around it.
    const other = inGit(cluster({ 'example.com/region': 'us', tier: '2' }));
    expect(await sync.sync(other)).toMatchObject({ applied: 1, problems: [problem] });
    expect(await labels()).toMatchObject({ 'example.com/region': 'eu', tier: '2' });

    await hub().apply(MANAGED_CLUSTER, cluster({}), { fieldManager: 'operator' });
    expect(await sync.sync(other)).toMatchObject({ applied: 1, problems: [] });
    expect(await labels()).toMatchObject({ 'example.com/region': 'us', tier: '2' });
    expect((await read(MANAGED_CLUSTER)).metadata.annotations?.[LEFT_FIELDS_ANNOTATION]).toBeUndefined();
    writes = [];
    expect(await sync.sync(other)).toMatchObject({ applied: 0, problems: [] });
    expect(writes).toEqual([]);
  });

  it('a conflict ends when the other manager says what Git says, and when the field leaves Git', async () => {
    await hub().apply(CONFIG_MAP, configMap({ a: 'theirs', b: 'theirs' }), { fieldManager: 'operator' });
    const sync = syncOf();
    expect((await sync.sync(inGit(configMap({ a: 'git', b: 'git' })))).problems[0]?.message).toMatch(
      /: \.data\.a \(operator\), \.data\.b \(operator\)$/,
    );
    await hub().apply(CONFIG_MAP, configMap({ a: 'git', b: 'theirs' }), { fieldManager: 'operator' });
    expect((await sync.sync(inGit(configMap({ a: 'git', b: 'git' })))).problems[0]?.message).toMatch(
      /: \.data\.b \(operator\)$/,
    );
    expect(await sync.sync(inGit(configMap({ a: 'git' })))).toMatchObject({ applied: 1, problems: [] });
    expect(await read(CONFIG_MAP)).toMatchObject({ data: { a: 'git', b: 'theirs' } });
  });

  it('take: the field is Git’s at once', async () => {
    await hub().apply(MANAGED_CLUSTER, cluster({ 'example.com/region': 'eu' }), { fieldManager: 'operator' });
    const git = inGit(cluster({ 'example.com/region': 'us' }));
    expect((await syncOf().sync(git)).problems).toHaveLength(1);
    const sync = syncOf({ takeFields: true });
    expect(await sync.sync(git)).toMatchObject({ applied: 1, problems: [] });
    expect(await labels()).toMatchObject({ 'example.com/region': 'us' });
    expect((await read(MANAGED_CLUSTER)).metadata.annotations?.[LEFT_FIELDS_ANNOTATION]).toBeUndefined();
    expect(await sync.sync(git)).toMatchObject({ applied: 0, problems: [] });
  });

  it('what a person changed of Berth’s own is taken back, and nothing of a controller with it', async () => {
    const sync = syncOf();
    await sync.sync(inGit(configMap({ a: 'git', b: 'git', c: 'git' })));
    await edit(CONFIG_MAP, { data: { a: 'by hand', d: 'by hand' } }, 'kubectl-edit');
    await edit(CONFIG_MAP, { data: { b: 'theirs' } }, 'operator');
    const { problems } = await sync.sync(inGit(configMap({ a: 'git', b: 'git', c: 'git' })));
    expect(problems).toEqual([expect.objectContaining({ retry: false })]);
    expect(problems[0]?.message).toMatch(/: \.data\.b \(operator\)$/);
    expect(await read(CONFIG_MAP)).toMatchObject({
      data: { a: 'git', b: 'theirs', c: 'git', d: 'by hand' },
    });
    // Somebody removes a label of Git by hand, and tries the field that is left once more.
    await edit(CONFIG_MAP, { data: { a: null, b: 'by hand' } }, 'kubectl-patch');
    await sync.sync(inGit(configMap({ a: 'git', b: 'git', c: 'git' })));
    expect(await read(CONFIG_MAP)).toMatchObject({ data: { a: 'git', b: 'by hand', c: 'git' } });
  });

  it('what a person had set before Berth came stays until the person gives it up', async () => {
    await hub().create(MANAGED_CLUSTER, cluster({ 'example.com/region': 'eu' }), {
      fieldManager: 'kubectl-create',
    });
    const git = inGit(cluster({ 'example.com/region': 'us', tier: '1' }));
    const sync = syncOf();
    const [problem] = (await sync.sync(git)).problems;
    expect(problem?.message).toMatch(/region \(kubectl-create\)$/);
    expect((await sync.sync(git)).problems).toEqual([problem]);
    expect(await labels()).toMatchObject({ 'example.com/region': 'eu', tier: '1' });
    await edit(MANAGED_CLUSTER, region(null), 'kubectl-label');
    expect(await sync.sync(git)).toMatchObject({ applied: 1, problems: [] });
    expect(await labels()).toMatchObject({ 'example.com/region': 'us', tier: '1' });
  });

  it('a field that Berth wrote with another manager is not removed when they come to differ', async () => {
    const sync = syncOf();
    await sync.sync(inGit(configMap({ a: 'same', b: '1' })));
    await hub().apply(CONFIG_MAP, configMap({ a: 'same' }), { fieldManager: 'operator' });
    const { problems } = await sync.sync(inGit(configMap({ a: 'other', b: '2' })));
    expect(problems[0]?.message).toMatch(/: \.data\.a \(operator\)$/);
    expect(await read(CONFIG_MAP)).toMatchObject({ data: { a: 'same', b: '2' } });
  });

  it('items of lists are distinguished by their keys', async () => {
    const service = (...ports: object[]): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: { selector: { app: 'a' }, ports },
    });
    const http = { name: 'http', port: 80, targetPort: 8080 };
    const dns = { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 };
    const sync = syncOf();
    await sync.sync(inGit(service(http, dns)));
    const moved = [{ ...http, targetPort: 15001 }, dns];
    await edit(SERVICE, { spec: { ports: moved } }, 'mesh');
    const { problems } = await sync.sync(
      inGit(service(http, { ...dns, targetPort: 5353 }, { name: 'tls', port: 443, targetPort: 8443 })),
    );
    expect(problems[0]?.message).toMatch(/: \.spec\.ports\[port=80,protocol="TCP"\]\.targetPort \(mesh\)$/);
    const { ports } = (await read(SERVICE))['spec'] as { readonly ports: readonly object[] };
    expect(ports).toEqual([
      expect.objectContaining({ port: 80, targetPort: 15001 }),
      expect.objectContaining({ port: 53, targetPort: 5353 }),
      expect.objectContaining({ port: 443, targetPort: 8443 }),
    ]);
  });

  it('more conflicts than one answer names are all left', async () => {
    const keys = Array.from({ length: 130 }, (_, at) => `key-${String(at)}`);
    const all = (value: string) => configMap(Object.fromEntries(keys.map((key) => [key, value])));
    await hub().apply(CONFIG_MAP, all('theirs'), { fieldManager: 'operator' });
    const git = all('git');
    const { problems } = await syncOf().sync(
      inGit({ ...git, data: { ...(git['data'] as object), own: 'git' } }),
    );
    expect(problems[0]?.message).toMatch(/ and 110 more$/);
    const { data } = (await read(CONFIG_MAP)) as unknown as { data: Record<string, string> };
    expect(Object.values(data).filter((value) => value === 'theirs')).toHaveLength(130);
    expect(data['own']).toBe('git');
  });
}
