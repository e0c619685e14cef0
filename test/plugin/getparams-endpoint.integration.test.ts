import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../plugin/tokens/bearer-tokens.ts';
import { GETPARAMS_PATH, GetparamsEndpoint } from '../../plugin/getparams-endpoint.ts';
import { MemoryPluginSource } from '../fakes/memory-plugin-source.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';

const OLD = 'old-token-of-the-test';
const NEW = 'new-token-of-the-test';
const cluster = (
  name: string,
  labels: Record<string, string>,
  claims: Record<string, string> = {},
): ManagedCluster => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels },
  spec: { managedClusterClientConfigs: [{ url: `https://${name}.example:6443` }] },
  status: { clusterClaims: Object.entries(claims).map(([key, value]) => ({ name: key, value })) },
});

const decided = (...names: string[]) => names.map((clusterName) => ({ clusterName, reason: '' }));

describe('getparams.execute', () => {
  let source: MemoryPluginSource;
  let server: http.Server;
  let url: string;
  let dir: string;
  let tokenFile: string;
  let nowMs = 0;
  const endpointOf = () => {
    const clock = { now: () => nowMs };
    const tokens = new BearerTokens({ file: tokenFile, clock, log: new SilentLogger() });
    return new GetparamsEndpoint({ source, tokens, clock: { monotonicMs: () => 0 } });
  };
  let endpoint: GetparamsEndpoint;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-plugin-'));
    tokenFile = join(dir, 'tokens');
    server = http.createServer((request, response) => void endpoint.handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${GETPARAMS_PATH}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true });
  });
  beforeEach(() => {
    writeFileSync(tokenFile, `${OLD}\n${NEW}\n`);
    source = new MemoryPluginSource();
    source.clusters.set('b', cluster('b', { region: 'eu' }, { platform: 'aws' }));
    source.clusters.set('a', cluster('a', { tier: '1' }));
    source.placements.set('team-a/web', {
      groups: [
        { name: '', index: 0, decisions: [{ clusterName: 'b', reason: '', score: 1_000_000 }] },
        { name: 'late', index: 1, decisions: decided('a') },
      ],
      decisionId: 'd1',
      commit: 'c1',
      emptyAllowed: false,
    });
    source.placements.set('team-a/none', {
      groups: [{ name: '', index: 0, decisions: [] }],
      decisionId: 'd2',
      commit: 'c1',
      emptyAllowed: false,
    });
    source.placements.set('team-a/none-ok', {
      groups: [{ name: '', index: 0, decisions: [] }],
      decisionId: 'd3',
      commit: 'c1',
      emptyAllowed: true,
    });
    endpoint = endpointOf();
  });

  async function ask(
    parameters: unknown,
    over: { token?: string; body?: string; method?: string; prefix?: string } = {},
  ) {
    const body = over.body ?? JSON.stringify({ applicationSetName: 'apps', input: { parameters } });
    const response = await fetch(url.replace(GETPARAMS_PATH, `${over.prefix ?? ''}${GETPARAMS_PATH}`), {
      method: over.method ?? 'POST',
      headers: { authorization: `Bearer ${over.token ?? OLD}`, 'content-type': 'application/json' },
      ...(over.method === 'GET' ? {} : { body }),
    });
    return {
      status: response.status,
      body: (await response.json()) as {
        message?: string;
        output?: { parameters: Record<string, unknown>[] };
      },
    };
  }

  it.each([
    {
      name: 'name and namespace apart',
      parameters: { placement: 'web', namespace: 'team-a' },
      want: ['a', 'b'],
    },
    { name: 'one group', parameters: { placement: 'team-a/web', group: 'late' }, want: ['a'] },
    {
      name: 'empty, allowed by the request',
      parameters: { placement: 'team-a/none', onEmpty: 'allow' },
      want: [],
    },
    { name: 'empty, allowed by the placement', parameters: { placement: 'team-a/none-ok' }, want: [] },
  ])('200: $name', async ({ parameters, want }) => {
    const { status, body } = await ask(parameters);
    expect({ status, names: body.output?.parameters.map((item) => item['name']) }).toEqual({
      status: 200,
      names: want,
    });
  });

  it.each([
    { name: 'empty by accident', parameters: { placement: 'team-a/none' }, status: 503 },
    { name: 'empty group', parameters: { placement: 'team-a/web', group: 'nonsense' }, status: 503 },
    {
      name: 'the request forbids empty',
      parameters: { placement: 'team-a/none-ok', onEmpty: 'error' },
      status: 503,
    },
    { name: 'unknown placement', parameters: { placement: 'team-a/nonsense' }, status: 404 },
    { name: 'no placement', parameters: {}, status: 400 },
    { name: 'no parameters', parameters: undefined, status: 400 },
    { name: 'no namespace', parameters: { placement: 'web' }, status: 400 },
    { name: 'hostile name', parameters: { placement: '__proto__/constructor' }, status: 404 },
    { name: 'bad flat', parameters: { placement: 'team-a/web', flat: 'yes' }, status: 400 },
    { name: 'a reserved key', parameters: { placement: 'team-a/web', as: 'values' }, status: 400 },
    { name: 'a key with a dot', parameters: { placement: 'team-a/web', as: 'a.b' }, status: 400 },
    { name: 'bad onEmpty', parameters: { placement: 'team-a/web', onEmpty: 'yes' }, status: 400 },
  ])('$status with a message: $name', async ({ parameters, status }) => {
    const answer = await ask(parameters);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(/./);
    expect(answer.body.output).toBeUndefined();
  });

  it('503 while the state is not known or stale', async () => {
    source.trouble = 'managedclusters have not been read yet';
    expect(await ask({ placement: 'team-a/web' })).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('not been read') },
    });
  });

  it.each([
    { name: 'not JSON', over: { body: '{"a' }, status: 400 },
    { name: 'a list', over: { body: '[]' }, status: 400 },
    { name: 'too large', over: { body: ' '.repeat(70_000) }, status: 413 },
    { name: 'GET', over: { method: 'GET' }, status: 405 },
    { name: 'a wrong token', over: { token: 'x'.repeat(21) }, status: 401 },
    { name: 'no token', over: { token: '' }, status: 401 },
  ])('$status: $name', async ({ over, status }) => {
    expect((await ask({ placement: 'team-a/web' }, over)).status).toBe(status);
  });

  it.each([
    ['/namespaces/team-a', 200],
    ['/namespaces/team-b,team-a', 200],
    ['/behind/a/proxy/namespaces/team-a', 200],
    ['/namespaces/team-b', 403],
    ['/clustersets/eu', 403],
    ['/clustersets/eu,all', 200],
    ['/clustersets/all/namespaces/team-a', 200],
    ['/namespaces/team-a/namespaces/team-b', 404],
    ['/namespaces', 404],
    ['/namespaces/*', 404],
    ['/namespace/team-a', 404],
    ['/clusterSets/all', 404],
  ])('the path %s of baseUrl binds what may be read: %i', async (prefix, status) => {
    source.members.set('eu', ['b']);
    source.members.set('all', ['a', 'b']);
    const answer = await ask({ placement: 'team-a/web' }, { prefix });
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body.output?.parameters).toHaveLength(2);
    else expect(answer.body.message).toMatch(/path of baseUrl/);
  });

  it('a placement without a namespace is the one of the only namespace in the path', async () => {
    expect((await ask({ placement: 'web' }, { prefix: '/namespaces/team-a' })).status).toBe(200);
    expect((await ask({ placement: 'web' }, { prefix: '/namespaces/team-a,team-b' })).status).toBe(400);
  });

  it('answers from what is known now: a changed cluster, decision or permission to be empty', async () => {
    const names = async () => (await ask({ placement: 'team-a/web' })).body.output?.parameters;
    expect((await names())?.[1]).toMatchObject({ labels: { region: 'eu' } });
    source.clusters.set('b', cluster('b', { region: 'us' }));
    source.current += 1;
    expect((await names())?.[1]).toMatchObject({ labels: { region: 'us' } });
    const web = source.placements.get('team-a/web');
    if (web !== undefined)
      source.placements.set('team-a/web', {
        ...web,
        groups: [{ name: '', index: 0, decisions: decided('a') }],
      });
    expect(await names()).toHaveLength(1);
    expect((await ask({ placement: 'team-a/none-ok' })).status).toBe(200);
    const none = source.placements.get('team-a/none-ok');
    if (none !== undefined) source.placements.set('team-a/none-ok', { ...none, emptyAllowed: false });
    expect((await ask({ placement: 'team-a/none-ok' })).status).toBe(503);
    source.trouble = 'stale';
    expect((await ask({ placement: 'team-a/web' })).status).toBe(503);
  });

  it('takes every token of the file, and a new file without a restart', async () => {
    expect((await ask({ placement: 'team-a/web' }, { token: NEW })).status).toBe(200);
    writeFileSync(tokenFile, `# the old one is gone\n${NEW}\n`);
    nowMs += 1_000;
    expect((await ask({ placement: 'team-a/web' }, { token: OLD })).status).toBe(401);
    expect((await ask({ placement: 'team-a/web' }, { token: NEW })).status).toBe(200);
  });

  it.each([
    ['', 'Token file: contains no token, expected one per line (tokens:1:1)'],
    ['# only a comment', 'Token file: contains no token, expected one per line (tokens:1:1)'],
    ['short\n', 'Token file: got a token of 5 characters, expected at least 16 (tokens:1:1)'],
    [`${OLD}\nshort\n`, 'Token file: got a token of 5 characters, expected at least 16 (tokens:2:1)'],
    [`${OLD} ${NEW}\n`, 'Token file: got several words, expected one token per line (tokens:1:1)'],
  ])('refuses the token file %j', (text, message) => {
    writeFileSync(tokenFile, text);
    expect(endpointOf).toThrow(message.replace('(tokens', `(${tokenFile}`));
  });
});
