import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

let hub: TestHub;
const clock = new FakeClock(Date.parse('2026-06-01T00:00:00Z'));
const PATH = '/api/v1/namespaces/many/secrets';
const secret = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels },
});
beforeAll(async () => {
  hub = await startTestHub({ clock });
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } },
  });
  for (let index = 0; index < 25; index += 1)
    await hub.call('POST', PATH, {
      body: secret(`s${String(index).padStart(2, '0')}`, { even: String(index % 2 === 0) }),
    });
});
afterAll(() => hub.stop());

const names = (body: LooseJson): string[] => body.items.map((item: LooseJson) => item.metadata.name);

describe('paged lists', () => {
  it('give one consistent snapshot, in key order, and say how much is left', async () => {
    const first = (await hub.call('GET', `${PATH}?limit=10`)).body;
    expect(names(first)[0]).toBe('s00');
    expect(first.metadata.remainingItemCount).toBe(15);
    await hub.call('POST', PATH, { body: secret('s10-late') });
    const second = (await hub.call('GET', `${PATH}?limit=10&continue=${first.metadata.continue as string}`))
      .body;
    const third = (await hub.call('GET', `${PATH}?limit=10&continue=${second.metadata.continue as string}`))
      .body;
    expect([...names(first), ...names(second), ...names(third)]).toEqual(
      Array.from({ length: 25 }, (_, index) => `s${String(index).padStart(2, '0')}`),
    );
    expect(third.metadata).not.toHaveProperty('continue');
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await hub.call('DELETE', `${PATH}/s10-late`);
  });

  it('count nothing when a selector is at work', async () => {
    const page = (await hub.call('GET', `${PATH}?limit=5&labelSelector=even%3Dtrue`)).body;
    expect(names(page)).toEqual(['s00', 's02', 's04', 's06', 's08']);
    expect(page.metadata).not.toHaveProperty('remainingItemCount');
  });

  it('answer 410 with a token to go on with when a page comes too late', async () => {
    const first = (await hub.call('GET', `${PATH}?limit=20`)).body;
    await clock.advance(6 * 60_000);
    const late = await hub.call('GET', `${PATH}?limit=20&continue=${first.metadata.continue as string}`);
    expect(late).toMatchObject({ status: 410, body: { reason: 'Expired' } });
    const rest = (await hub.call('GET', `${PATH}?continue=${late.body.metadata.continue as string}`)).body;
    expect(names(rest)).toEqual(['s20', 's21', 's22', 's23', 's24']);
  });

  it.each([
    'nonsense',
    Buffer.from('{"v":9}').toString('base64url'),
    Buffer.from('{"__proto__":1}').toString('base64url'),
  ])('refuse the token %s with 400', async (token) => {
    expect((await hub.call('GET', `${PATH}?limit=5&continue=${token}`)).status).toBe(400);
  });
});

describe('versions of lists', () => {
  it.each([
    ['resourceVersion=0', 200],
    ['resourceVersion=1', 200],
    ['resourceVersion=1&resourceVersionMatch=NotOlderThan', 200],
    ['resourceVersion=1&resourceVersionMatch=Exact', 410],
    ['resourceVersion=99999999', 504],
    ['resourceVersion=x', 422],
    ['resourceVersionMatch=Exact', 422],
    ['limit=x', 400],
    ['labelSelector=a%3D%3D%3Db', 400],
    ['fieldSelector=spec.x%3D1', 400],
    ['fieldSelector=metadata.name%3Ds01', 200],
  ])('%s answers %i', async (query, status) => {
    expect((await hub.call('GET', `${PATH}?${query}`)).status).toBe(status);
  });

  it('carry the newest version of the whole cluster', async () => {
    const before = Number((await hub.call('GET', PATH)).body.metadata.resourceVersion);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-' } };
    const made = await hub.call('POST', '/api/v1/namespaces/default/configmaps', { body });
    expect(made.body.metadata.name).toMatch(/^x-[a-z0-9]{5}$/);
    expect(Number((await hub.call('GET', PATH)).body.metadata.resourceVersion)).toBeGreaterThan(before);
  });
});

describe('a list by name', () => {
  beforeAll(async () => {
    await hub.call('POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'few' } },
    });
    await hub.call('POST', '/api/v1/namespaces/few/secrets', { body: secret('s01') });
  });

  const ALL = '/api/v1/secrets';
  it.each<[path: string, query: string, want: readonly string[]]>([
    [PATH, 'fieldSelector=metadata.name=s01', ['many/s01']],
    [PATH, 'fieldSelector=metadata.name==s01&limit=1', ['many/s01']],
    [PATH, 'fieldSelector=metadata.name=s01&resourceVersion=0', ['many/s01']],
    [PATH, 'fieldSelector=metadata.name=missing', []],
    [PATH, 'fieldSelector=metadata.name=s01,metadata.name=s02', []],
    [PATH, 'fieldSelector=metadata.name=s01,metadata.name!=s01', []],
    [PATH, 'fieldSelector=metadata.name=s01,metadata.namespace=few', []],
    [PATH, 'fieldSelector=metadata.name=s01&labelSelector=even=false', ['many/s01']],
    [PATH, 'fieldSelector=metadata.name=s01&labelSelector=even=true', []],
    [ALL, 'fieldSelector=metadata.name=s01', ['few/s01', 'many/s01']],
    [ALL, 'fieldSelector=metadata.name=s01,metadata.namespace=few', ['few/s01']],
    ['/api/v1/namespaces', 'fieldSelector=metadata.name=few', ['/few']],
    ['/api/v1/namespaces', 'fieldSelector=metadata.name=missing', []],
    ['/api/v1/namespaces', 'fieldSelector=metadata.name=few,status.phase=Terminating', []],
  ])('%s?%s gives %j', async (path, query, want) => {
    const { status, body } = await hub.call('GET', `${path}?${query}`);
    expect(status).toBe(200);
    expect(body.metadata).not.toHaveProperty('continue');
    expect(
      body.items.map(
        ({ metadata }: LooseJson) => `${(metadata.namespace ?? '') as string}/${metadata.name as string}`,
      ),
    ).toEqual(want);
  });
});
