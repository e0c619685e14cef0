import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hook, HookServer } from '../../fakes/hook-server.ts';
import { startHookServer } from '../../fakes/hook-server.ts';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = (version: string, name = ''): string =>
  `/apis/example.com/${version}/namespaces/default/boats${name}`;

const convert: Hook = ({ apiVersion, kind, request }) => {
  const convertedObjects = request.objects.map((object: LooseJson) => ({
    ...object,
    apiVersion: request.desiredAPIVersion,
    spec: { seen: `${String(object.spec?.seen ?? '')}>${String(request.desiredAPIVersion).slice(-2)}` },
  }));
  const response = { uid: request.uid, result: { status: 'Success' }, convertedObjects };
  return { review: { apiVersion, kind, response } };
};

const hangs: Hook = () => ({ hangs: true });

function definition(url: string, caBundle: string): LooseJson {
  const spec = { type: 'object', properties: { seen: { type: 'string' } } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url, caBundle } };
  return {
    metadata: { name: 'boats.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      conversion: { strategy: 'Webhook', webhook },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
    },
  };
}

const boat = (version: string, name: string): LooseJson => ({
  apiVersion: `example.com/${version}`,
  kind: 'Boat',
  metadata: { name },
  spec: { seen: version },
});

describe('conversion webhooks', () => {
  let hub: TestHub;
  let hook: HookServer;
  let clock: SteeredClock;

  beforeEach(async () => {
    clock = new SteeredClock();
    hook = await startHookServer();
    hub = await startTestHub({ clock });
    hook.answers(convert);
    await hub.call('POST', CRDS, { body: definition(hook.url, hook.caBundle) });
  });
  afterEach(async () => {
    await hub.stop();
    await hook.close();
  });

  it('are asked once for an object that many read', async () => {
    await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    const read = () => hub.call('GET', at('v2', '/ada'));
    const replies = await Promise.all([read(), read(), hub.call('GET', at('v2'))]);
    expect(replies[0]?.body.spec).toEqual({ seen: 'v1>v2' });
    expect(replies[2]?.body.items[0].spec).toEqual({ seen: 'v1>v2' });
    await hub.call('GET', at('v2', '/ada'));
    expect(hook.taken()).toHaveLength(1);
  });

  it('are asked for many objects at a time, in pieces', async () => {
    for (let index = 0; index < 130; index += 1)
      await hub.call('POST', at('v1'), { body: boat('v1', `boat-${String(index)}`) });
    expect((await hub.call('GET', at('v2'))).body.items).toHaveLength(130);
    expect(hook.taken().map(({ review }) => review.request.objects.length)).toEqual([100, 30]);
  });

  it('never see a resourceVersion, and cannot change it', async () => {
    const { body } = await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    const shown = await hub.call('GET', at('v2', '/ada'));
    expect(hook.taken()[0]?.review.request.objects[0].metadata.resourceVersion).toBeUndefined();
    expect(shown.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  it('convert the events of a watch, in order', async () => {
    await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    const watch = await hub.watch(`${at('v2')}?watch=true`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { spec: { seen: 'v1>v2' } } });
    await hub.call('POST', at('v2'), { body: boat('v2', 'bob') });
    await hub.call('DELETE', at('v1', '/ada'));
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { spec: { seen: 'v2>v1>v2' } } });
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { apiVersion: 'example.com/v2' } });
    watch.close();
  });

  it('end a watch that they cannot serve, and no other', async () => {
    const steady = await hub.watch(`${at('v1')}?watch=true`);
    const broken = await hub.watch(`${at('v2')}?watch=true`);
    hook.answers(() => ({ status: 500, text: 'out of order' }));
    await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    expect(await broken.rest()).toEqual([
      expect.objectContaining({ type: 'ERROR', object: expect.objectContaining({ code: 500 }) }),
    ]);
    expect((await steady.next()).type).toBe('ADDED');
    steady.close();
  });

  it('that hang keep nobody else waiting, and are given up after 30 s', async () => {
    await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    hook.answers(hangs);
    const waiting = Array.from({ length: 50 }, () => hub.call('GET', at('v2', '/ada')));
    await expect.poll(() => hook.taken().length).toBe(1);
    expect((await hub.call('GET', at('v1', '/ada'))).status).toBe(200);
    expect((await hub.call('POST', at('v1'), { body: boat('v1', 'bob') })).status).toBe(201);
    clock.skip(31_000);
    for (const { status, body } of await Promise.all(waiting)) {
      expect(status).toBe(500);
      expect(body.message).toMatch(
        /^conversion webhook for example.com\/v1, Kind=Boat failed: Post ".*": context deadline exceeded$/,
      );
    }
  });

  it('write nothing when the answer could not be shown', async () => {
    hook.answers((review, path) =>
      review.request.desiredAPIVersion.endsWith('v2') ? { status: 500, text: 'no' } : convert(review, path),
    );
    expect((await hub.call('POST', at('v2'), { body: boat('v2', 'ada') })).status).toBe(500);
    expect((await hub.call('GET', at('v1'))).body.items).toEqual([]);
  });

  it('are asked again when somebody else was faster', async () => {
    await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    let overtaken: Promise<unknown> | undefined;
    hook.answers((review, path) => {
      const type = 'application/merge-patch+json';
      const body = { metadata: { labels: { by: 'other' } } };
      overtaken ??= hub.call('PATCH', at('v1', '/ada'), { type, body });
      return convert(review, path);
    });
    const type = 'application/merge-patch+json';
    const body = { metadata: { annotations: { by: 'me' } } };
    const patched = await hub.call('PATCH', at('v2', '/ada'), { type, body });
    await overtaken;
    expect(patched.status).toBe(200);
    const { metadata } = (await hub.call('GET', at('v1', '/ada'))).body;
    expect([metadata.labels, metadata.annotations]).toEqual([{ by: 'other' }, { by: 'me' }]);
  });

  it('may not answer with more than was asked for', async () => {
    await hub.call('POST', at('v1'), { body: boat('v1', 'ada') });
    hook.answers(() => ({ status: 200, text: 'x'.repeat(4 * 1024 * 1024) }));
    const { status, body } = await hub.call('GET', at('v2', '/ada'));
    expect([status, body.message]).toEqual([
      500,
      expect.stringMatching(/the response is larger than \d+ bytes$/),
    ]);
  });

  it('convert after a restart, too', async () => {
    await hub.call('POST', at('v2'), { body: boat('v2', 'ada') });
    await hub.restart();
    expect((await hub.call('GET', at('v2', '/ada'))).body.spec).toEqual({ seen: 'v2>v1>v2' });
  });
});
