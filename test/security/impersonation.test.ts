import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import type { Reply, TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { grant } from './role-of.ts';

let hub: TestHub;
let token = '';
beforeAll(async () => {
  hub = await startTestHub();
  const request = { dataDir: hub.dataDir, user: 'mallory', groups: [], cluster: '' };
  token = /token: (\S+)/.exec(await issueKubeconfig(request, Date.now()))?.[1] ?? '';
  await grant(hub, { kind: 'User', name: 'mallory' }, { namespace: '' }, [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['userextras/scopes'], verbs: ['impersonate'] },
  ]);
});
afterAll(() => hub.stop());

function ask(headers: Record<string, string | string[]>): Promise<Reply> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  return hub.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { token, headers, body });
}

describe('who may act as other users', () => {
  it.each([['system:masters'], [['devs', 'system:masters']], ['system:authenticated, system:masters']])(
    'does not become a member of system:masters by it: %j',
    async (groups) => {
      const reply = await ask({ 'impersonate-user': 'alice', 'impersonate-group': groups });
      expect([reply.status, reply.body.reason]).toEqual([403, 'Forbidden']);
    },
  );

  it('does not become a ServiceAccount by it', async () => {
    const reply = await ask({ 'impersonate-user': 'system:serviceaccount:kube-system:default' });
    expect(reply.status).toBe(403);
  });

  it('gives the extra key that the right is for, however it is written', async () => {
    const alice = { 'impersonate-user': 'alice' };
    const plain = await ask({ ...alice, 'impersonate-extra-scopes': 'a' });
    const encoded = await ask({ ...alice, 'impersonate-extra-sc%6fpes': 'a' });
    for (const reply of [plain, encoded])
      expect(reply.body.status?.userInfo.extra).toEqual({ scopes: ['a'] });
    expect((await ask({ ...alice, 'impersonate-extra-%73ecret': 'a' })).status).toBe(403);
  });

  it('gets an answer about a key that is not properly encoded', async () => {
    const reply = await ask({ 'impersonate-user': 'alice', 'impersonate-extra-%zz': 'a' });
    expect(reply.status).toBe(403);
  });
});
