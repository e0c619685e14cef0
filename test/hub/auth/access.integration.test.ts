import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificateRequest } from '../../e2e/certificate-request.ts';
import type { Call, TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

let hub: TestHub;
let robot: string;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
beforeAll(async () => {
  hub = await startTestHub({ members: ['m1'], audit: 'writes' });
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
  });
  await hub.call('POST', '/api/v1/namespaces/team/serviceaccounts', {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
  });
  robot = await token('team', 'robot');
});
afterAll(() => hub.stop());

async function token(namespace: string, name: string, spec: object = {}): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const reply = await hub.call('POST', path, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  expect(reply.status).toBe(201);
  return reply.body.status.token as string;
}

async function role(namespace: string, name: string, rules: object[]): Promise<void> {
  const kind = namespace === '' ? 'ClusterRole' : 'Role';
  const at = namespace === '' ? RBAC : `${RBAC}/namespaces/${namespace}`;
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name };
  const subjects = [{ kind: 'ServiceAccount', name: 'robot', namespace: 'team' }];
  await hub.call('POST', `${at}/${kind.toLowerCase()}s`, {
    body: { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name }, rules },
  });
  await hub.call('POST', `${at}/${kind.toLowerCase()}bindings`, {
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${kind}Binding`,
      metadata: { name },
      roleRef,
      subjects,
    },
  });
}

const asRobot = (method: string, path: string, options: Call = {}) =>
  hub.call(method, path, { token: robot, ...options });

describe('without a name', () => {
  it.each(['/healthz', '/livez', '/readyz', '/readyz?verbose', '/version'])('%s is open', async (path) => {
    expect((await hub.call('GET', path, { token: null })).status).toBe(200);
  });

  it.each([
    '/',
    '/api',
    '/apis',
    '/api/v1/namespaces',
    '/metrics',
    '/openapi/v3',
    '/clusters/m1/api',
    '/healthz/../api',
  ])('%s is 401 as a Status', async (path) => {
    const reply = await hub.call('GET', path, { token: null });
    expect(reply).toMatchObject({ status: 401, body: { kind: 'Status', reason: 'Unauthorized' } });
  });

  it.each(['wrong', '', `${'x'.repeat(5000)}`])('a token that nobody issued is 401: %s', async (bad) => {
    expect((await hub.call('GET', '/api', { token: bad })).status).toBe(401);
  });

  it.each(['Basic YTpi', 'Bearer', 'bearer  '])('other authorization is 401: %s', async (authorization) => {
    expect((await hub.call('GET', '/api', { token: null, headers: { authorization } })).status).toBe(401);
  });
});

describe('roles', () => {
  it('refuse in words that clients know', async () => {
    const reply = await asRobot('GET', '/api/v1/namespaces/team/secrets');
    expect(reply.status).toBe(403);
    expect(reply.body.message).toBe(
      'secrets is forbidden: User "system:serviceaccount:team:robot" cannot list resource "secrets" in API group "" in the namespace "team"',
    );
  });

  it('allow what a binding grants, at once, there and only there, and no longer than it stands', async () => {
    await role('team', 'configs', [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create'] },
    ]);
    expect((await asRobot('GET', '/api/v1/namespaces/team/configmaps')).status).toBe(200);
    expect((await asRobot('GET', '/api/v1/namespaces/default/configmaps')).status).toBe(403);
    expect((await asRobot('GET', '/api/v1/configmaps')).status).toBe(403);
    expect((await asRobot('DELETE', '/api/v1/namespaces/team/configmaps/x')).status).toBe(403);
    await hub.call('DELETE', `${RBAC}/namespaces/team/rolebindings/configs`);
    expect((await asRobot('GET', '/api/v1/namespaces/team/configmaps')).status).toBe(403);
  });

  it('take the name of a list or watch from its field selector', async () => {
    await role('', 'own-cluster', [
      {
        apiGroups: ['cluster.open-cluster-management.io'],
        resources: ['managedclusters'],
        resourceNames: ['mine'],
        verbs: ['get', 'list', 'watch'],
      },
    ]);
    const path = '/apis/cluster.open-cluster-management.io/v1/managedclusters';
    expect((await asRobot('GET', path)).status).toBe(403);
    expect((await asRobot('GET', `${path}?fieldSelector=metadata.name%3Dother`)).status).toBe(403);
    expect((await asRobot('GET', `${path}?fieldSelector=metadata.name%3Dmine`)).status).toBe(200);
    const stream = await hub.watch(`${path}?watch=true&fieldSelector=metadata.name%3Dmine`, { token: robot });
    expect(stream.headers['content-type']).toBe('application/json');
    stream.close();
  });

  it('know subresources, and paths', async () => {
    await role('', 'status-only', [
      {
        apiGroups: ['cluster.open-cluster-management.io'],
        resources: ['managedclusters/status'],
        verbs: ['patch'],
      },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ]);
    const path = '/apis/cluster.open-cluster-management.io/v1/managedclusters/absent';
    const type = 'application/merge-patch+json';
    expect((await asRobot('PATCH', `${path}/status`, { type, body: {} })).status).toBe(404);
    expect((await asRobot('PATCH', path, { type, body: {} })).status).toBe(403);
    expect((await asRobot('GET', '/metrics')).text).toContain('apiserver_request_total');
  });

  it('to patch do not let server-side apply create', async () => {
    const rules = (verbs: string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }];
    await role('team', 'patchers', rules(['patch']));
    const path = '/api/v1/namespaces/team/configmaps/made?fieldManager=robot';
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } };
    const apply = () => asRobot('PATCH', path, { type: 'application/apply-patch+yaml', body });
    const refused = await apply();
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('cannot create resource "configmaps"');
    await role('team', 'makers', rules(['create']));
    expect((await apply()).status).toBe(201);
    await hub.call('DELETE', `${RBAC}/namespaces/team/rolebindings/makers`);
    expect((await apply()).status).toBe(200);
    await hub.call('DELETE', `${RBAC}/namespaces/team/rolebindings/patchers`);
  });

  it('aggregate', async () => {
    const metadata = { name: 'extra', labels: { 'team.example.com/aggregate': 'yes' } };
    const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }];
    await hub.call('POST', `${RBAC}/clusterroles`, {
      body: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules },
    });
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: metadata.labels }] };
    const sum = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'sum' },
      aggregationRule,
      rules: [],
    };
    await hub.call('POST', `${RBAC}/clusterroles`, { body: sum });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'sum' };
    const subjects = [{ kind: 'ServiceAccount', name: 'robot', namespace: 'team' }];
    await hub.call('POST', `${RBAC}/clusterrolebindings`, {
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'sum' },
        roleRef,
        subjects,
      },
    });
    expect((await asRobot('GET', '/api/v1/nodes')).status).toBe(200);
  });
});

describe('escalation', () => {
  beforeAll(() =>
    role('team', 'rbac-author', [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings'],
        verbs: ['get', 'create', 'patch'],
      },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ]),
  );
  const at = `${RBAC}/namespaces/team`;
  const roleOf = (name: string, rules: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name },
    rules,
  });
  const bindingOf = (name: string, kind: string, roleName: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
    subjects: [{ kind: 'User', name: 'friend' }],
  });

  it('nobody writes a role with more than they have', async () => {
    const own = await asRobot('POST', `${at}/roles`, {
      body: roleOf('own', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]),
    });
    expect(own.status).toBe(201);
    const more = await asRobot('POST', `${at}/roles`, {
      body: roleOf('more', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]),
    });
    expect(more.status).toBe(403);
    expect(more.body.message).toContain('attempting to grant RBAC permissions not currently held');
    const patch = { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] };
    const grown = await asRobot('PATCH', `${at}/roles/own`, {
      type: 'application/merge-patch+json',
      body: patch,
    });
    expect(grown.status).toBe(403);
  });

  it('nobody binds a role with more than they have', async () => {
    expect(
      (await asRobot('POST', `${at}/rolebindings`, { body: bindingOf('fine', 'Role', 'own') })).status,
    ).toBe(201);
    expect(
      (
        await asRobot('POST', `${at}/rolebindings`, {
          body: bindingOf('bad', 'ClusterRole', 'cluster-admin'),
        })
      ).status,
    ).toBe(403);
    expect(
      (await asRobot('POST', `${at}/rolebindings`, { body: bindingOf('none', 'Role', 'absent') })).status,
    ).toBe(404);
  });

  it('unless they may escalate or bind', async () => {
    await role('team', 'may-escalate', [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'clusterroles'],
        verbs: ['escalate', 'bind'],
      },
    ]);
    expect(
      (
        await asRobot('POST', `${at}/roles`, {
          body: roleOf('more', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]),
        })
      ).status,
    ).toBe(201);
    expect(
      (
        await asRobot('POST', `${at}/rolebindings`, {
          body: bindingOf('bad', 'ClusterRole', 'cluster-admin'),
        })
      ).status,
    ).toBe(201);
  });
});

describe('impersonation', () => {
  it('is for those who may, user and groups each', async () => {
    const headers = { 'impersonate-user': 'alice', 'impersonate-group': ['devs', 'a,b'] };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const reply = await hub.call('POST', path, { body, headers });
    expect(reply.body.status.userInfo).toEqual({
      username: 'alice',
      groups: ['devs', 'a,b', 'system:authenticated'],
    });
    const refused = await asRobot('POST', path, { body, headers });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('cannot impersonate resource "users"');
    const groupsAlone = await hub.call('POST', path, {
      body,
      headers: { 'impersonate-group': 'system:masters' },
    });
    expect(groupsAlone.status).toBe(400);
  });

  it('leaves nothing of the caller', async () => {
    const headers = { 'impersonate-user': 'system:serviceaccount:team:robot' };
    expect((await hub.call('GET', '/api/v1/namespaces/team/secrets', { headers })).status).toBe(403);
  });
});

describe('reviews', () => {
  const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
  const ask = (kind: string, spec: object, path = `${AUTHORIZATION}/${kind.toLowerCase()}s`) =>
    hub.call('POST', path, { body: { apiVersion: 'authorization.k8s.io/v1', kind, spec } });
  const attributes = { verb: 'list', group: '', resource: 'nodes' };

  it('answer for others and for oneself', async () => {
    expect(
      (
        await ask('SubjectAccessReview', {
          user: 'system:serviceaccount:team:robot',
          resourceAttributes: attributes,
        })
      ).body.status,
    ).toMatchObject({ allowed: true });
    expect(
      (await ask('SubjectAccessReview', { user: 'stranger', resourceAttributes: attributes })).body.status,
    ).toEqual({ allowed: false });
    expect(
      (
        await ask('SubjectAccessReview', {
          user: 'x',
          groups: ['system:authenticated'],
          nonResourceAttributes: { verb: 'get', path: '/version' },
        })
      ).body.status.allowed,
    ).toBe(true);
    expect(
      (await ask('SelfSubjectAccessReview', { resourceAttributes: attributes })).body.status.allowed,
    ).toBe(true);
    expect((await ask('SelfSubjectAccessReview', {})).status).toBe(400);
    const local = `${AUTHORIZATION}/namespaces/team/localsubjectaccessreviews`;
    expect(
      (
        await ask(
          'LocalSubjectAccessReview',
          { user: 'x', resourceAttributes: { ...attributes, namespace: 'team' } },
          local,
        )
      ).body.status.allowed,
    ).toBe(false);
    expect(
      (
        await ask(
          'LocalSubjectAccessReview',
          { user: 'x', resourceAttributes: { ...attributes, namespace: 'other' } },
          local,
        )
      ).status,
    ).toBe(400);
  });

  it('list the rules that hold', async () => {
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'team' },
    };
    const reply = await asRobot('POST', `${AUTHORIZATION}/selfsubjectrulesreviews`, { body });
    expect(reply.body.status.resourceRules).toContainEqual(
      expect.objectContaining({ resources: ['nodes'], verbs: ['list'] }),
    );
    expect(reply.body.status.nonResourceRules).toContainEqual(
      expect.objectContaining({ nonResourceURLs: ['/metrics'] }),
    );
  });

  it('tell whose a token is', async () => {
    const review = async (spec: object) =>
      (
        await hub.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
          body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
        })
      ).body.status;
    expect(await review({ token: robot })).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:team:robot' },
    });
    expect(await review({ token: 'nonsense' })).toMatchObject({ authenticated: false });
    const other = await token('team', 'robot', { audiences: ['other'] });
    expect(await review({ token: other })).toMatchObject({ authenticated: false });
    expect(await review({ token: other, audiences: ['other'] })).toMatchObject({
      authenticated: true,
      audiences: ['other'],
    });
  });
});

describe('tokens of service accounts', () => {
  it('are refused for another audience, after their account is gone, and by another cluster', async () => {
    await hub.call('POST', '/api/v1/namespaces/team/serviceaccounts', {
      body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'brief' } },
    });
    const own = await token('team', 'brief');
    expect((await hub.call('GET', '/api', { token: own })).status).toBe(200);
    expect(
      (await hub.call('GET', '/api', { token: await token('team', 'brief', { audiences: ['vault'] }) }))
        .status,
    ).toBe(401);
    expect((await hub.call('GET', '/clusters/m1/api', { token: own })).status).toBe(401);
    await hub.call('DELETE', '/api/v1/namespaces/team/serviceaccounts/brief');
    expect((await hub.call('GET', '/api', { token: own })).status).toBe(401);
    await hub.call('POST', '/api/v1/namespaces/team/serviceaccounts', {
      body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'brief' } },
    });
    expect((await hub.call('GET', '/api', { token: own })).status).toBe(401);
  });

  it('may not be too short-lived, and say when they end', async () => {
    const path = '/api/v1/namespaces/team/serviceaccounts/robot/token';
    const body = (spec: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
    expect((await hub.call('POST', path, { body: body({ expirationSeconds: 60 }) })).status).toBe(422);
    const reply = await hub.call('POST', path, { body: body({ expirationSeconds: 7200 }) });
    const lifeMs = Date.parse(reply.body.status.expirationTimestamp) - Date.now();
    expect(lifeMs).toBeGreaterThan(7_100_000);
    expect(lifeMs).toBeLessThanOrEqual(7_200_000);
    expect((await hub.call('POST', path.replace('robot', 'absent'), { body: body({}) })).status).toBe(404);
  });
});

describe('client certificates', () => {
  const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  async function request(name: string, organization: string): Promise<void> {
    const pem = await makeCertificateRequest(privateKey, { commonName: 'agent-1', organization });
    const spec = {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      expirationSeconds: 3600,
      username: 'somebody-else',
      groups: ['system:masters'],
    };
    const made = await hub.call('POST', CSRS, {
      body: {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec,
      },
    });
    expect(made.body.spec).toMatchObject({
      username: 'admin',
      groups: ['system:masters', 'system:authenticated'],
    });
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'fine' };
    const approval = await hub.call('PUT', `${CSRS}/${name}/approval`, {
      body: { ...made.body, status: { conditions: [condition] } },
    });
    expect(approval.status).toBe(200);
  }

  it('are signed after approval, speak for CN and O, and end as asked', async () => {
    await request('agent', 'agents');
    await expect
      .poll(async () => (await hub.call('GET', `${CSRS}/agent`)).body.status.certificate)
      .toBeDefined();
    const cert = Buffer.from(
      (await hub.call('GET', `${CSRS}/agent`)).body.status.certificate,
      'base64',
    ).toString();
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const reply = await hub.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      token: null,
      cert,
      key,
      body,
    });
    expect(reply.body.status.userInfo).toEqual({
      username: 'agent-1',
      groups: ['agents', 'system:authenticated'],
    });
    expect((await hub.call('GET', '/api/v1/secrets', { token: null, cert, key })).status).toBe(403);
    const other = await startTestHub();
    const foreign = await other.call('GET', '/api', { token: null, cert, key });
    expect(foreign.status).toBe(401);
    await other.stop();
  });

  it('are approved only by those who may approve for the signer', async () => {
    await request('guarded', 'agents');
    const approver = (resources: string[], resourceNames: string[], verbs: string[]) => ({
      apiGroups: ['certificates.k8s.io'],
      resources,
      verbs,
      ...(resourceNames.length > 0 && { resourceNames }),
    });
    await role('', 'approver', [approver(['certificatesigningrequests/approval'], [], ['update'])]);
    const body = (await hub.call('GET', `${CSRS}/guarded`)).body;
    body.status.conditions[0].message = 'changed';
    delete body.metadata.resourceVersion;
    const refused = await asRobot('PUT', `${CSRS}/guarded/approval`, { body });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('not permitted to approve requests with signerName');
    await role('', 'signer-approver', [approver(['signers'], ['kubernetes.io/*'], ['approve'])]);
    expect((await asRobot('PUT', `${CSRS}/guarded/approval`, { body })).status).toBe(200);
  });
});

describe('secrets at rest', () => {
  it('are hashed, and readable by the owner alone', () => {
    expect(readFileSync(join(hub.dataDir, 'tokens.json'), 'utf8')).not.toContain(hub.token);
  });

  it('never reach the audit log', async () => {
    await hub.call('POST', '/api/v1/namespaces/team/secrets', {
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'quiet' },
        stringData: { password: 'hunter2' },
      },
    });
    await expect
      .poll(() => readFileSync(join(hub.dataDir, 'audit.log'), 'utf8'))
      .toContain('"resource":"secrets"');
    const log = readFileSync(join(hub.dataDir, 'audit.log'), 'utf8');
    expect(log).not.toContain('hunter2');
    expect(log).not.toContain(hub.token);
    expect(log).toContain('"username":"admin"');
  });
});
