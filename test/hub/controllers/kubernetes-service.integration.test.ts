import { afterEach, describe, expect, it } from 'vitest';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

const SERVICE = '/api/v1/namespaces/default/services/kubernetes';

describe('the Service kubernetes', () => {
  let server: TestHub | undefined;
  afterEach(() => server?.stop());

  it.each([
    ['of the hub', '', true],
    ['of a member', '/clusters/one', true],
    ['of a hub that is an API server alone', '', false],
  ])('%s is there, and is there again when somebody deletes it', async (_, prefix, controllers) => {
    server = await startTestHub({ members: ['one'], controllers });
    const get = async () => await server?.call('GET', `${prefix}${SERVICE}`);
    const first = await get();
    expect(first?.body).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] },
    });
    expect((await server.call('DELETE', `${prefix}${SERVICE}`)).status).toBe(200);
    await expect.poll(async () => (await get())?.status).toBe(200);
    expect((await get())?.body.metadata.uid).not.toBe(first?.body.metadata.uid);
  });

  it('keeps what a user changes', async () => {
    server = await startTestHub();
    const body = { metadata: { labels: { team: 'a' } } };
    const type = 'application/merge-patch+json';
    expect((await server.call('PATCH', SERVICE, { body, type })).status).toBe(200);
    await server.restart();
    expect((await server.call('GET', SERVICE)).body.metadata.labels).toEqual({
      component: 'apiserver',
      provider: 'kubernetes',
      team: 'a',
    });
  });
});
