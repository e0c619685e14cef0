import { afterEach, describe, expect, it } from 'vitest';
import { whenIdle } from '@berth/test-kit/when-idle';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

const NAMESPACE = '/api/v1/namespaces/team';
const CONFIG_MAPS = `${NAMESPACE}/configmaps`;

describe('a hub that is an API server alone', () => {
  let server: TestHub | undefined;
  afterEach(() => server?.stop());

  it('gives namespaces nothing, keeps them in deletion, and collects nothing', async () => {
    server = await startTestHub({ controllers: false });
    await server.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'team' } } });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'none' };
    const body = { metadata: { name: 'owned', ownerReferences: [owner] } };
    expect((await server.call('POST', CONFIG_MAPS, { body })).status).toBe(201);
    expect((await server.call('DELETE', NAMESPACE)).status).toBe(200);
    await whenIdle(() => server?.hub.port ?? 0);
    expect((await server.call('GET', `${NAMESPACE}/serviceaccounts/default`)).status).toBe(404);
    expect((await server.call('GET', NAMESPACE)).body.status.phase).toBe('Terminating');
    expect((await server.call('GET', `${CONFIG_MAPS}/owned`)).status).toBe(200);
  });
});
