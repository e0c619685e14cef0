import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAME = 'boats.example.com';
const at = (version: string): string => `/apis/example.com/${version}/namespaces/default/boats`;

interface VersionOptions {
  readonly storage?: boolean;
  readonly spec: Record<string, unknown>;
}

const WEBHOOK = {
  strategy: 'Webhook',
  webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
};

function crd(versions: Record<string, VersionOptions>, conversion?: LooseJson): LooseJson {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME },
    spec: {
      group: 'example.com',
      ...(conversion !== undefined && { conversion }),
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      versions: Object.entries(versions).map(([name, { storage = false, spec }]) => ({
        name,
        served: true,
        storage,
        selectableFields: [{ jsonPath: '.spec.colour' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { colour: { type: 'string' }, ...spec } } },
          },
        },
      })),
    },
  };
}

const TEXT = { type: 'string' };
const boat = (version: string, spec: Record<string, unknown>): LooseJson => ({
  apiVersion: `example.com/${version}`,
  kind: 'Boat',
  metadata: { name: 'ada' },
  spec,
});

describe('definitions of the same names', () => {
  it('are served one at a time: the second when the first is gone', async () => {
    const hub = await startTestHub();
    const first = crd({ v1: { storage: true, spec: {} } });
    const names = { plural: 'ships', kind: 'Boat' };
    const second = { ...first, metadata: { name: 'ships.example.com' }, spec: { ...first.spec, names } };
    await hub.call('POST', CRDS, { body: first });
    const refused = await hub.call('POST', CRDS, { body: second });
    expect(refused.body.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Established', status: 'False', reason: 'NotAccepted' }),
    );
    const ships = '/apis/example.com/v1/namespaces/default/ships';
    expect((await hub.call('GET', ships)).status).toBe(404);
    await hub.restart();
    expect((await hub.call('GET', ships)).status).toBe(404);
    await hub.call('DELETE', `${CRDS}/${NAME}`);
    await expect.poll(async () => (await hub.call('GET', ships)).status).toBe(200);
    expect((await hub.call('GET', `${CRDS}/ships.example.com`)).body.status.acceptedNames.kind).toBe('Boat');
    await hub.stop();
  });
});

describe('objects that were stored before their definition changed', () => {
  let hub: TestHub;
  beforeEach(async () => {
    hub = await startTestHub();
  });
  afterEach(() => hub.stop());

  const define = async (versions: Record<string, VersionOptions>, conversion?: LooseJson): Promise<void> => {
    const reply = await hub.call('PATCH', `${CRDS}/${NAME}?fieldManager=test&force=true`, {
      type: 'application/apply-patch+yaml',
      body: crd(versions, conversion),
    });
    expect(reply.status).toBeLessThan(300);
  };
  const spec = async (version = 'v1'): Promise<LooseJson> =>
    (await hub.call('GET', `${at(version)}/ada`)).body.spec;

  it.each([
    ['a get', async () => spec()],
    ['a list', async () => (await hub.call('GET', at('v1'))).body.items[0].spec],
    [
      'a watch',
      async () => {
        const watch = await hub.watch(`${at('v1')}?watch=true`);
        const event = await watch.next();
        watch.close();
        return event.object.spec;
      },
    ],
    [
      'a field selector',
      async () => (await hub.call('GET', `${at('v1')}?fieldSelector=spec.colour%3Dred`)).body.items[0].spec,
    ],
  ])('are pruned and defaulted by %s', async (_how, read) => {
    await define({ v1: { storage: true, spec: { hull: TEXT, sails: { type: 'integer' } } } });
    await hub.call('POST', at('v1'), { body: boat('v1', { hull: 'oak', sails: 3 }) });
    await define({
      v1: { storage: true, spec: { sails: { type: 'integer' }, colour: { ...TEXT, default: 'red' } } },
    });
    expect(await read()).toEqual({ sails: 3, colour: 'red' });
  });

  it('lose nothing when the definition is changed back, not even over a restart', async () => {
    await define({ v1: { storage: true, spec: { hull: TEXT } } });
    await hub.call('POST', at('v1'), { body: boat('v1', { hull: 'oak' }) });
    await define({ v1: { storage: true, spec: {} } });
    expect(await spec()).toEqual({});
    await hub.restart();
    expect(await spec()).toEqual({});
    await define({ v1: { storage: true, spec: { hull: TEXT } } });
    expect(await spec()).toEqual({ hull: 'oak' });
  });

  it('are brought up to date by a write of the same, once', async () => {
    await define({ v1: { storage: true, spec: {} } });
    await hub.call('POST', at('v1'), { body: boat('v1', {}) });
    await define({ v1: { storage: true, spec: { colour: { ...TEXT, default: 'red' } } } });
    const same = async (): Promise<number> => {
      const { body } = await hub.call('GET', `${at('v1')}/ada`);
      const reply = await hub.call('PUT', `${at('v1')}/ada`, { body });
      expect(reply.status).toBe(200);
      return Number(reply.body.metadata.resourceVersion) - Number(body.metadata.resourceVersion);
    };
    expect(await same()).toBeGreaterThan(0);
    expect(await same()).toBe(0);
  });

  it('are written in the storage version, whatever version was asked', async () => {
    const wide = { colour: { ...TEXT, default: 'red' } };
    await define({ v1beta1: { spec: { hull: TEXT } }, v1: { storage: true, spec: wide } });
    const made = await hub.call('POST', at('v1beta1'), { body: boat('v1beta1', { hull: 'oak' }) });
    // v1 does not know the hull and has a colour for everybody: what v1beta1 shows has gone through v1.
    expect(made.body).toMatchObject({ apiVersion: 'example.com/v1beta1', spec: { colour: 'red' } });
    expect(await spec()).toEqual({ colour: 'red' });
    const patch = { type: 'application/merge-patch+json', body: { spec: { colour: 'blue' } } };
    expect((await hub.call('PATCH', `${at('v1beta1')}/ada`, patch)).body.apiVersion).toBe(
      'example.com/v1beta1',
    );
    expect(await spec()).toEqual({ colour: 'blue' });
    const gone = await hub.call('DELETE', `${at('v1beta1')}/ada`);
    expect(gone.status).toBe(200);
  });

  it('are never shown in another version when the webhook that converts them is not there', async () => {
    await define({ v1beta1: { spec: {} }, v1: { storage: true, spec: {} } }, WEBHOOK);
    const steady = await hub.watch(`${at('v1')}?watch=true`);
    const refused = await hub.watch(`${at('v1beta1')}?watch=true`);
    expect((await hub.call('POST', at('v1beta1'), { body: boat('v1beta1', {}) })).status).toBe(500);
    expect((await hub.call('GET', at('v1'))).body.items).toEqual([]);
    expect((await hub.call('POST', at('v1'), { body: boat('v1', {}) })).status).toBe(201);
    for (const path of [at('v1beta1'), `${at('v1beta1')}/ada`]) {
      const reply = await hub.call('GET', path);
      expect(reply.status).toBe(500);
      expect(reply.body.message).toContain('conversion webhook for example.com/v1, Kind=Boat failed');
    }
    expect(await refused.rest()).toEqual([
      expect.objectContaining({ type: 'ERROR', object: expect.objectContaining({ code: 500 }) }),
    ]);
    expect((await steady.next()).type).toBe('ADDED');
    expect((await hub.call('DELETE', `${at('v1beta1')}/ada`)).status).toBe(200);
    expect((await steady.next()).type).toBe('DELETED');
    steady.close();
  });

  it('go with their namespace, whatever version they are stored in', async () => {
    const metadata = { name: 'harbour' };
    await hub.call('POST', '/api/v1/namespaces', { body: { apiVersion: 'v1', kind: 'Namespace', metadata } });
    const inHarbour = (version: string): string => at(version).replace('default', 'harbour');
    await define({ v1beta1: { storage: true, spec: {} } }, WEBHOOK);
    expect((await hub.call('POST', inHarbour('v1beta1'), { body: boat('v1beta1', {}) })).status).toBe(201);
    await define({ v1beta1: { spec: {} }, v1: { storage: true, spec: {} } }, WEBHOOK);
    await hub.call('DELETE', '/api/v1/namespaces/harbour');
    await expect.poll(async () => (await hub.call('GET', '/api/v1/namespaces/harbour')).status).toBe(404);
    expect((await hub.call('GET', at('v1'))).body.items).toEqual([]);
  });

  it('keep their version from being taken out of the definition', async () => {
    await define({ v1beta1: { storage: true, spec: {} }, v1: { spec: {} } });
    await define({ v1beta1: { spec: {} }, v1: { storage: true, spec: {} } });
    const { body } = await hub.call('GET', `${CRDS}/${NAME}`);
    const less = { ...body, spec: { ...body.spec, versions: body.spec.versions.slice(1) } };
    const refused = await hub.call('PUT', `${CRDS}/${NAME}`, { body: less });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('status.storedVersions[0]: Invalid value: "v1beta1"');
    // The client that has rewritten all objects says so in the status.
    const migrated = { type: 'application/merge-patch+json', body: { status: { storedVersions: ['v1'] } } };
    expect((await hub.call('PATCH', `${CRDS}/${NAME}/status`, migrated)).body.status.storedVersions).toEqual([
      'v1',
    ]);
    delete less.metadata.resourceVersion;
    expect((await hub.call('PUT', `${CRDS}/${NAME}`, { body: less })).status).toBe(200);
  });

  it('move to a new storage version when they are written again', async () => {
    await define({ v1beta1: { storage: true, spec: {} } });
    await hub.call('POST', at('v1beta1'), { body: boat('v1beta1', { colour: 'red' }) });
    await define({ v1beta1: { spec: {} }, v1: { storage: true, spec: {} } });
    const { body } = await hub.call('GET', `${at('v1')}/ada`);
    expect(body.apiVersion).toBe('example.com/v1');
    const moved = await hub.call('PUT', `${at('v1')}/ada`, { body });
    expect(Number(moved.body.metadata.resourceVersion)).toBeGreaterThan(
      Number(body.metadata.resourceVersion),
    );
    expect((await hub.call('GET', `${CRDS}/${NAME}`)).body.status.storedVersions).toEqual(['v1beta1', 'v1']);
  });
});
