import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headersOf, openArgocdFleet } from '../app/serve/dashboard/argocd-fleet.ts';
import { adminToken, askDashboard, tenantToken } from '../app/serve/dashboard/dashboard-client.ts';

const TOKENS = {
  extension: 'token-of-the-extension',
  bound: 'token-of-another-team',
  plugin: 'token-of-the-plugin',
};
const DECLARED = `
tokens:
  - {name: extension, token: ${TOKENS.extension}, scopes: [extension], namespaces: ['*']}
  - {name: bound, token: ${TOKENS.bound}, scopes: [extension], namespaces: [team-b]}
  - {name: in-set, token: token-of-another-set, scopes: [extension], namespaces: ['*'], clusterSets: [old]}
  - {name: plugin, token: ${TOKENS.plugin}, namespaces: ['*']}
`;

describe('the extension of Argo CD and tenants', () => {
  let argo: Awaited<ReturnType<typeof openArgocdFleet>>;
  beforeAll(async () => {
    argo = await openArgocdFleet();
    writeFileSync(join(argo.fleet.dataDir, 'tokens'), DECLARED);
    argo.fleet.clock.skip(5_000);
  });
  afterAll(() => argo?.close());
  const ask = (application: string, project?: string, token: string | undefined = TOKENS.extension) =>
    askDashboard(argo.url, '/argocd/application', { headers: headersOf(application, project), token });

  it('says why an Application is where it is, and names no cluster outside its project', async () => {
    const { status, json, text, headers } = await ask('argocd:web-c1');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      application: 'argocd/web-c1',
      cluster: 'c1',
      note: '',
      dashboard: 'https://berth.example',
    });
    const [place] = json.places;
    expect(place.because).toBe(
      'team-a/web asks for 2 clusters of set prod, and c1 is number 1 of 6 with 200 points',
    );
    expect(place.leavesIf).toContain('it gets a taint that is not tolerated');
    expect(place.removedBy).toMatchObject([{ number: 12 }]);
    // c2 is selected beside it.
    expect(text.match(/\bc[0-9]\b/g)?.filter((name) => name !== 'c1' && name !== 'c3')).toEqual([]);
    expect(text).toContain('a cluster outside this project');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    // Where it is itself, it knows.
    expect((await ask('argocd:web-c2')).json.cluster).toBe('c2');
  });

  it.each([
    ['without a token', '', 401],
    ['with a wrong token', 'wrong', 401],
    ['with the token of the plugin', TOKENS.plugin, 403],
  ])('answers nobody %s', async (_name, token, want) => {
    expect((await ask('argocd:web-c1', 'shop', token)).status).toBe(want);
  });

  it('takes no token of the hub, and gives its own token nothing else', async () => {
    const { kubeconfig, api } = argo.fleet.hub;
    for (const token of [adminToken(kubeconfig), await tenantToken(api, 'team-a')])
      expect((await ask('argocd:web-c1', 'shop', token)).status).toBe(401);
    for (const [path, want] of [
      ['/ui/api/fleet', 401],
      ['/api/v1/status', 403],
    ] as const)
      expect((await askDashboard(argo.url, path, { token: TOKENS.extension })).status).toBe(want);
  });

  it.each([
    ['another project than its own', 'argocd:web-c1', 'default'],
    ['an Application that does not exist', 'argocd:none', 'shop'],
    ['no namespace', 'web-c1', 'shop'],
    ['a path', 'argocd:../web', 'shop'],
    ['two names', 'argocd:web-c1, argocd:web-c2', 'shop'],
    ['a strange project', 'argocd:web-c1', 'sh%0aop'],
  ])('knows no Application by %s', async (_name, application, project) => {
    expect((await ask(application, project)).status).toBe(404);
  });

  it.each([
    ['an ApplicationSet of another namespace that names it', 'team-x:mine-c1', undefined],
    ['a token for other namespaces', 'argocd:web-c1', TOKENS.bound],
    ['a token for other sets of clusters', 'argocd:web-c1', 'token-of-another-set'],
  ])('shows the placement to nobody by %s', async (_name, application, token) => {
    const { status, json, text } = await ask(application, 'shop', token);
    expect([status, json.places]).toEqual([200, []]);
    expect(json.note).not.toBe('');
    expect(text).not.toContain('team-a');
  });

  it('reads nothing of what a browser could add to the request', async () => {
    const { text } = await ask('argocd:web-c1');
    const hostile = {
      ...headersOf('argocd:web-c1'),
      'argocd-target-cluster-name': 'c2',
      'argocd-username': 'admin',
    };
    const token = TOKENS.extension;
    const added = await askDashboard(argo.url, '/argocd/application?project=default&name=x', {
      headers: hostile,
      token,
    });
    expect(added.json.places).toEqual(JSON.parse(text).places);
    const posted = await askDashboard(argo.url, '/argocd/application', {
      method: 'POST',
      headers: hostile,
      token,
    });
    expect(posted.status).toBe(404);
  });
});
