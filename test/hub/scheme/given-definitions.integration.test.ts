import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';
import { startTestHub, type TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAME = 'placements.cluster.open-cluster-management.io';
const PLACEMENT = `${CRDS}/${NAME}`;
const MERGE = 'application/merge-patch+json';

describe('the definitions of the kinds that a hub serves by itself', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub({ members: ['ada'] });
  });
  afterAll(() => hub.stop());
  const get = async (path: string): Promise<LooseJson> => (await hub.call('GET', path)).body;

  it.each(['', '/clusters/ada'])('are listed%s, as those of other kinds', async (cluster) => {
    const { items } = await get(`${cluster}${CRDS}`);
    const names = OCM_HUB_KINDS.definitions.map(({ metadata }) => (metadata as LooseJson).name);
    expect(items.map(({ metadata }: LooseJson) => metadata.name)).toEqual(names.sort());
    const { metadata, spec, status } = items.find((one: LooseJson) => one.metadata.name === NAME);
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(spec).toMatchObject({ group: 'cluster.open-cluster-management.io', scope: 'Namespaced' });
    expect(status).toMatchObject({
      acceptedNames: { kind: 'Placement', listKind: 'PlacementList', plural: 'placements' },
      conditions: [
        { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
        { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
      ],
      storedVersions: ['v1beta1'],
    });
  });

  it('cannot be deleted', async () => {
    const deleted = await hub.call('DELETE', PLACEMENT);
    expect(deleted.status).toBe(403);
    expect(deleted.body.message).toContain('the hub itself defines this kind, so it cannot be deleted');
  });

  const definitionOf = (kind: string): LooseJson =>
    structuredClone(OCM_HUB_KINDS.definitions.find(({ spec }) => (spec as LooseJson).names.kind === kind));

  it.each([
    ['POST', CRDS, 201],
    ['PATCH', `${PLACEMENT}?fieldManager=kubectl`, 201],
    ['PUT', PLACEMENT, 200],
  ])('are replaced by one that a user writes whole: %s', async (method, path, status) => {
    const body = definitionOf('Placement');
    const description = async (): Promise<unknown> =>
      (await get(PLACEMENT)).spec.versions[0].schema.openAPIV3Schema.description;
    const own = await description();
    body.spec.versions[0].schema.openAPIV3Schema.description = 'of the user';
    const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
    const done = await hub.call(method, path, { body, type });
    expect([done.status, done.body.message]).toEqual([status, undefined]);
    expect(await hub.call('POST', CRDS, { body })).toMatchObject({ status: 409 });
    expect(await description()).toBe('of the user');
    expect((await hub.call('DELETE', PLACEMENT)).status).toBe(200);
    await expect.poll(description).toBe(own);
  });

  it('are converted by the hub, also where a user wrote one that names no converter', async () => {
    const body = definitionOf('ClusterManagementAddOn');
    expect((await hub.call('POST', CRDS, { body })).status).toBe(201);
    const addons = '/apis/addon.open-cluster-management.io/VERSION/clustermanagementaddons';
    const addon = {
      apiVersion: 'addon.open-cluster-management.io/v1alpha1',
      kind: 'ClusterManagementAddOn',
      metadata: { name: 'pilot' },
      spec: { supportedConfigs: [{ group: '', resource: 'ports', defaultConfig: { name: 'kiel' } }] },
    };
    expect((await hub.call('POST', addons.replace('VERSION', 'v1alpha1'), { body: addon })).status).toBe(201);
    const shown = await get(`${addons.replace('VERSION', 'v1beta1')}/pilot`);
    expect(shown.spec.defaultConfigs).toEqual([{ group: '', resource: 'ports', name: 'kiel' }]);
  });

  it('give way to a stored one until it is deleted', async () => {
    const before = await get(PLACEMENT);
    const watch = await hub.watch(
      `${CRDS}?watch=true&resourceVersion=${(await get(CRDS)).metadata.resourceVersion}`,
    );
    const body = { metadata: { labels: { port: 'kiel' } } };
    expect((await hub.call('PATCH', PLACEMENT, { body, type: MERGE })).status).toBe(200);
    expect(await watch.next()).toMatchObject({
      type: 'MODIFIED',
      object: { metadata: { name: NAME, ...body.metadata } },
    });
    await hub.hub.compact();
    await hub.restart();
    expect((await get(PLACEMENT)).metadata).toMatchObject({ ...body.metadata, uid: before.metadata.uid });
    expect((await hub.call('DELETE', PLACEMENT)).status).toBe(200);
    await expect.poll(async () => (await get(PLACEMENT)).metadata.labels).toBeUndefined();
    expect((await get(PLACEMENT)).spec).toEqual(before.spec);
    await hub.hub.compact();
    await hub.restart();
    expect((await get(PLACEMENT)).metadata).toMatchObject({ uid: before.metadata.uid, resourceVersion: '1' });
  });
});
