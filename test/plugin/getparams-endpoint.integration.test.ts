import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../plugin/bearer-tokens.ts';
import { GETPARAMS_PATH, GetparamsEndpoint } from '../../plugin/getparams-endpoint.ts';
import type { PluginPlacement, PluginSource } from '../../plugin/plugin-source.ts';
import { SilentLogger } from '../fakes/silent-logger.ts';
import type { ManagedCluster } from '../../src/core/model/kind/managed-cluster.ts';

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

class Source implements PluginSource {
  trouble: string | undefined;
  placements = new Map<string, PluginPlacement>();
  clusters = new Map<string, ManagedCluster>();
  problem = () => this.trouble;
  placement = (name: string) => this.placements.get(name);
  cluster = (name: string) => this.clusters.get(name);
  isInSets = () => true;
}

const decided = (...names: string[]) => names.map((clusterName) => ({ clusterName, reason: '' }));

describe('getparams.execute', () => {
  let source: Source;
  let server: http.Server;
  let url: string;
  let dir: string;
  let tokenFile: string;
  let nowMs = 0;
  const endpointOf = () => {
    const clock = { now: () => nowMs };
    const tokens = new BearerTokens({ file: tokenFile, clock, log: new SilentLogger() });
    return new GetparamsEndpoint({ source, tokens });
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
    source = new Source();
    source.clusters.set('b', cluster('b', { region: 'eu' }, { platform: 'aws' }));
    source.clusters.set('a', cluster('a', { tier: '1' }));
    source.placements.set('team-a/web', {
      groups: [
        { name: '', index: 0, decisions: [{ clusterName: 'b', reason: '', score: 1_000_000 }] },
        { name: 'late', index: 1, decisions: decided('a') },
      ],
      decisionId: 'd1',
      emptyAllowed: false,
    });
    source.placements.set('team-a/none', {
      groups: [{ name: '', index: 0, decisions: [] }],
      decisionId: 'd2',
      emptyAllowed: false,
    });
    source.placements.set('team-a/none-ok', {
      groups: [{ name: '', index: 0, decisions: [] }],
      decisionId: 'd3',
      emptyAllowed: true,
    });
    endpoint = endpointOf();
  });

  async function ask(parameters: unknown, over: { token?: string; body?: string; method?: string } = {}) {
    const body = over.body ?? JSON.stringify({ applicationSetName: 'apps', input: { parameters } });
    const response = await fetch(url, {
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

  it('answers with string scalars, the same keys in each item, by name', async () => {
    const { status, body } = await ask({ placement: 'team-a/web', labels: ['always'] });
    expect(status).toBe(200);
    expect(body.output?.parameters).toEqual([
      {
        name: 'a',
        clusterName: 'a',
        server: 'https://a.example:6443',
        placement: 'team-a/web',
        placementName: 'web',
        namespace: 'team-a',
        decisionId: 'd1',
        group: 'late',
        groupIndex: '1',
        wave: 'w1',
        rank: '2',
        score: '',
        reason: '',
        labels: { always: '', region: '', tier: '1' },
        claims: { platform: '' },
      },
      {
        name: 'b',
        clusterName: 'b',
        server: 'https://b.example:6443',
        placement: 'team-a/web',
        placementName: 'web',
        namespace: 'team-a',
        decisionId: 'd1',
        group: '',
        groupIndex: '0',
        wave: 'w0',
        rank: '1',
        score: '1000000',
        reason: '',
        labels: { always: '', region: 'eu', tier: '' },
        claims: { platform: 'aws' },
      },
    ]);
  });

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

  it('takes every token of the file, and a new file without a restart', async () => {
    expect((await ask({ placement: 'team-a/web' }, { token: NEW })).status).toBe(200);
    writeFileSync(tokenFile, `# the old one is gone\n${NEW}\n`);
    nowMs += 1_000;
    expect((await ask({ placement: 'team-a/web' }, { token: OLD })).status).toBe(401);
    expect((await ask({ placement: 'team-a/web' }, { token: NEW })).status).toBe(200);
  });

  it.each([
    ['', 'Token file: holds no token, expected one per line (tokens:1:1)'],
    ['# only a comment', 'Token file: holds no token, expected one per line (tokens:1:1)'],
    ['short\n', 'Token file: got a token of 5 characters, expected at least 16 (tokens:1:1)'],
    [`${OLD}\nshort\n`, 'Token file: got a token of 5 characters, expected at least 16 (tokens:2:1)'],
    [`${OLD} ${NEW}\n`, 'Token file: got several words, expected one token per line (tokens:1:1)'],
  ])('refuses the token file %j', (text, message) => {
    writeFileSync(tokenFile, text);
    expect(endpointOf).toThrow(message.replace('(tokens', `(${tokenFile}`));
  });
});
