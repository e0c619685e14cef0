import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { readHubSnapshot } from '../../../src/controllers/explanations/offline-snapshot.ts';
import { InventoryApi } from '../../../src/controllers/previews/inventory/inventory-api.ts';
import { readInventory } from '../../../src/controllers/previews/inventory/read-inventory.ts';
import {
  parseInventory,
  renderInventory,
} from '../../../src/controllers/previews/inventory/sign-inventory.ts';
import { readArgoPart } from '../../../src/app/generator-inputs/plan-inputs.ts';
import { APPLICATION_SET } from '../../../src/core/argocd/argocd-kinds.ts';
import { InputError } from '@berth/runtime/errors';
import {
  apiVersionOf,
  CONFIG_MAP,
  DEPLOYMENT,
  type KindInfo,
  MANAGED_CLUSTER,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  SECRET,
} from '@berth/kube/model/kinds';
import type { ListOptions } from '@berth/kube/model/kube-api';
import { APPLY_SET_PART_OF_LABEL, applySetParent } from '../../../src/core/sync/apply-set.ts';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';

const READING = { takenAt: '2026-03-01T12:00:00.000Z', engine: '1.2.3', argocdNamespace: 'argocd' };
const HIDDEN = 'do-not-tell';

function keyPair(name: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    key: { file: name, pem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) },
    publicKey: { file: `${name}.pub`, pem: String(publicKey.export({ type: 'spki', format: 'pem' })) },
  };
}

const encoded = (text: string): string => Buffer.from(text).toString('base64');

describe('an inventory', () => {
  let hub: FakeKubeApi;
  const put = (
    kind: KindInfo,
    [namespace, name]: readonly [string, string],
    rest: object,
    metadata: object = {},
  ) =>
    hub.create(kind, {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      ...rest,
      metadata: { name, ...(kind.namespaced && { namespace }), ...metadata },
    });

  beforeEach(async () => {
    hub = new FakeKubeApi();
    for (const kind of [APPLICATION_SET, DEPLOYMENT, CONFIG_MAP, SECRET]) hub.addKind(kind);
    const part = { labels: { [APPLY_SET_PART_OF_LABEL]: 'applyset-fleet' } };
    const annotations = { 'berth.dev/removal-budget': '3', 'example.org/note': HIDDEN };
    await put(
      MANAGED_CLUSTER,
      ['', 'c1'],
      {
        spec: {
          hubAcceptsClient: true,
          managedClusterClientConfigs: [{ url: 'https://c1', caBundle: HIDDEN }],
          taints: [{ key: 'a', effect: 'NoSelect' }],
        },
      },
      { annotations, labels: { region: 'eu' } },
    );
    await put(
      MANIFEST_WORK_REPLICA_SET,
      ['team-a', 'agent'],
      {
        spec: {
          placementRefs: [{ name: 'web' }],
          manifestWorkTemplate: {
            workload: {
              manifests: [
                { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data: { key: HIDDEN } },
                { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { key: HIDDEN } },
              ],
            },
          },
        },
      },
      part,
    );
    await put(DEPLOYMENT, ['team-a', 'api'], { spec: { text: HIDDEN } }, { ...part, annotations });
    await put(SECRET, ['team-a', 'member'], { data: { key: encoded(HIDDEN) } }, part);
    await put(SECRET, ['team-a', 'unrelated'], { data: { key: encoded(HIDDEN) } });
    await put(
      SECRET,
      ['argocd', 'cluster-c1'],
      { data: { name: encoded('c1'), server: encoded('https://c1'), config: encoded(HIDDEN) } },
      {
        labels: { 'argocd.argoproj.io/secret-type': 'cluster', tier: 'gold' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': HIDDEN, owner: 'team-a' },
      },
    );
    await put(CONFIG_MAP, ['argocd', 'other'], { data: { key: HIDDEN } });
    await put(CONFIG_MAP, ['argocd', 'plugin'], { data: { baseUrl: 'http://berth', token: HIDDEN } });
    const members = [DEPLOYMENT, SECRET, MANIFEST_WORK_REPLICA_SET].map((kind) => ({
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: '', namespace: 'team-a' },
    }));
    await hub.create(
      CONFIG_MAP,
      applySetParent({ name: 'berth-fleet', namespace: 'berth-system' }, 'applyset-fleet', members),
    );
  });

  it('holds nothing that a plan does not read', async () => {
    const text = renderInventory(await readInventory(hub, READING));
    expect(text).not.toContain(HIDDEN);
    expect(text).not.toContain(encoded(HIDDEN));
    expect(text).not.toContain('unrelated');
    const { objects } = parseInventory({ file: 'inventory', text });
    const named = (name: string) => objects.find(({ metadata }) => metadata.name === name);
    expect(named('c1')).toMatchObject({
      metadata: { labels: { region: 'eu' }, annotations: { 'berth.dev/removal-budget': '3' } },
      spec: {
        taints: [{ key: 'a', effect: 'NoSelect' }],
        managedClusterClientConfigs: [{ url: 'https://c1' }],
      },
    });
    // What is applied is counted: nothing of it but its name.
    expect(named('api')).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'api', namespace: 'team-a', labels: { [APPLY_SET_PART_OF_LABEL]: 'applyset-fleet' } },
    });
    expect(named('member')).not.toHaveProperty('data');
  });

  it('holds who owns the fields that a plan reads', async () => {
    const owns = (manager: string, fieldsV1: object, more: object = {}) => ({
      ...{ manager, operation: 'Apply', fieldsV1 },
      ...more,
    });
    const spec = { 'f:spec': { 'f:numberOfClusters': {} } };
    const annotations = { 'f:example.org/note': {}, 'f:berth.dev/removal-budget': {} };
    const read = { 'f:berth.dev/removal-budget': {} };
    const managedFields = [
      owns('autoscaler', spec),
      owns('notes', { 'f:metadata': { 'f:annotations': annotations } }),
      owns('other-notes', { 'f:metadata': { 'f:annotations': { 'f:example.org/note': {} } } }),
      owns('scheduler', { 'f:status': {} }, { subresource: 'status' }),
    ];
    await put(PLACEMENT, ['team-a', 'web'], { spec: { numberOfClusters: 2 } }, { managedFields });
    const { objects } = await readInventory(hub, READING);
    expect(objects.find(({ metadata }) => metadata.name === 'web')?.metadata.managedFields).toEqual([
      owns('autoscaler', spec),
      owns('notes', { 'f:metadata': { 'f:annotations': read } }),
      owns('other-notes', {}),
    ]);
  });

  it('answers reads as the hub did', async () => {
    const api = new InventoryApi(await readInventory(hub, READING));
    const { takenAt: now } = READING;
    const [there, here] = [await readHubSnapshot(hub, now), await readHubSnapshot(api, now)];
    const names = ({ clusters }: typeof there) => clusters.map(({ metadata }) => metadata.name);
    expect(names(here)).toEqual(names(there));
    const { argocdClusters, applications } = await readArgoPart(api, 'argocd');
    expect([...(argocdClusters ?? [])]).toEqual(['c1']);
    const secret = applications?.onHub.find(({ kind }) => kind === 'Secret');
    expect(secret).toMatchObject({
      metadata: { labels: { tier: 'gold' }, annotations: { owner: 'team-a' } },
      data: { name: encoded('c1'), server: encoded('https://c1') },
    });
    const members = await api.list(DEPLOYMENT, { labelSelector: APPLY_SET_PART_OF_LABEL });
    expect(members.items.map(({ metadata }) => metadata.name)).toEqual(['api']);
    expect(await api.resolve('apps/v1', 'Deployment')).toEqual(DEPLOYMENT);
    await expect(api.create()).rejects.toThrow('cannot be written');
  });

  it('selects by namespace, label and name', async () => {
    await put(DEPLOYMENT, ['team-b', 'api'], {}, { labels: { [APPLY_SET_PART_OF_LABEL]: 'applyset-other' } });
    await put(DEPLOYMENT, ['team-a', 'web'], {}, { labels: { [APPLY_SET_PART_OF_LABEL]: 'applyset-fleet' } });
    const api = new InventoryApi(await readInventory(hub, READING));
    const selected = async (options: ListOptions) =>
      (await api.list(DEPLOYMENT, options)).items.map(
        ({ metadata: { namespace, name } }) => `${namespace}/${name}`,
      );
    expect((await selected({})).sort()).toEqual(['team-a/api', 'team-a/web', 'team-b/api']);
    expect(await selected({ namespace: 'team-b' })).toEqual(['team-b/api']);
    expect(await selected({ labelSelector: `${APPLY_SET_PART_OF_LABEL}=applyset-other` })).toEqual([
      'team-b/api',
    ]);
    expect(await selected({ namespace: 'team-a', fieldSelector: 'metadata.name=web' })).toEqual([
      'team-a/web',
    ]);
    expect(
      await selected({
        fieldSelector: 'metadata.name=api',
        labelSelector: `${APPLY_SET_PART_OF_LABEL}=applyset-fleet`,
      }),
    ).toEqual(['team-a/api']);
  });

  it('says what could not be read, instead of leaving it out', async () => {
    const refusing = new RefusingKubeApi(hub, 'kube.forbidden');
    refusing.refused.add('list secrets');
    const inventory = await readInventory(refusing, READING);
    expect(inventory.unread).toEqual([
      { group: '', kind: 'Secret', problem: 'list secrets: the server refused to list secrets' },
    ]);
    const { notes } = await readArgoPart(new InventoryApi(inventory), 'argocd');
    expect(notes?.join()).toContain('the server refused to list secrets');
    refusing.refused.add('list managedclusters');
    await expect(readInventory(refusing, READING)).rejects.toThrow('refused to list managedclusters');
  });

  it('is refused when it was changed, cut, signed with another key, or is of another version', async () => {
    const [mine, theirs] = [keyPair('mine'), keyPair('theirs')];
    const inventory = await readInventory(hub, READING);
    const text = renderInventory(inventory, mine.key);
    const parse = (given: string, publicKey?: typeof mine.publicKey) =>
      parseInventory({ file: 'inventory.json', text: given, publicKey });
    expect(parse(text, mine.publicKey)).toEqual(inventory);
    expect(parse(text)).toEqual(inventory);
    const refused = (given: string, code: string, publicKey?: typeof mine.publicKey) => {
      let thrown: unknown;
      try {
        parse(given, publicKey);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(InputError);
      expect(thrown).toMatchObject({ code, message: expect.stringContaining('inventory.json') });
    };
    refused(text, 'inventory.signature', theirs.publicKey);
    refused(renderInventory(inventory), 'inventory.signature', mine.publicKey);
    const edited = text.replace('"region":"eu"', '"region":"us"');
    expect(edited).not.toBe(text);
    refused(edited, 'inventory.digest');
    refused(text.slice(0, -100), 'inventory.syntax');
    refused(JSON.stringify(JSON.parse(text)), 'inventory.digest');
    refused('{}', 'inventory.syntax');
    refused(
      renderInventory({ ...inventory, version: 2 as 1 }, mine.key),
      'inventory.version',
      mine.publicKey,
    );
    // The head of one and the body of another.
    const other = renderInventory({ ...inventory, hub: 'https://elsewhere' }, theirs.key);
    const [head = ''] = text.split('\n');
    refused(`${head}\n${other.split('\n')[1]}\n`, 'inventory.digest', mine.publicKey);
    expect(() => renderInventory(inventory, theirs.publicKey)).toThrow('theirs.pub: is not a PEM key');
  });
});
