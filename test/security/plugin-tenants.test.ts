import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../plugin/tokens/bearer-tokens.ts';
import { GETPARAMS_PATH } from '../../plugin/getparams-endpoint.ts';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const TOKENS = {
  a: 'token-of-the-tenant-a',
  b: 'token-of-the-tenant-b',
  inA: 'token-of-a-and-its-set',
  operator: 'token-of-the-operator',
  watcher: 'token-of-prometheus-x',
};
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const DECLARED = `
tokens:
  - {name: argocd-a, sha256: ${sha256(TOKENS.a)}, namespaces: [team-a]}
  - {name: argocd-b, sha256: ${sha256(TOKENS.b).toUpperCase()}, namespaces: [team-b, shared]}
  - {name: argocd-in-a, token: ${TOKENS.inA}, namespaces: [team-a], clusterSets: [set-a]}
  - {name: operator, token: ${TOKENS.operator}, scopes: [api]}
  - {name: prometheus, token: ${TOKENS.watcher}, scopes: [metrics]}
`;

const cluster = (name: string, set: string): object => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels: { [CLUSTER_SET_LABEL]: set, name } },
  spec: { hubAcceptsClient: true },
});
const tenant = (namespace: string, sets: readonly string[]): readonly object[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  ...sets.map((clusterSet) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSetBinding',
    metadata: { name: clusterSet, namespace },
    spec: { clusterSet },
  })),
];
const set = (name: string): object => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta2',
  kind: 'ManagedClusterSet',
  metadata: { name },
});
const placement = (namespace: string, name: string, spec: object = {}): object => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name, namespace },
  spec: {
    tolerations: ['unreachable', 'unavailable'].map((taint) => ({
      key: `cluster.open-cluster-management.io/${taint}`,
      operator: 'Exists',
    })),
    ...spec,
  },
});

describe('tokens of the plugin endpoint', () => {
  let fleet: ServedFleet;
  let url: string;
  let log: SilentLogger;

  beforeAll(async () => {
    fleet = await ServedFleet.create();
    const objects = [
      set('set-a'),
      set('set-b'),
      cluster('c1', 'set-a'),
      cluster('c2', 'set-b'),
      ...tenant('team-a', ['set-a', 'set-b']),
      ...tenant('team-b', ['set-b']),
      placement('team-a', 'own', { clusterSets: ['set-a'] }),
      placement('team-a', 'wide'),
      placement('team-b', 'web'),
    ];
    fleet.git.commit({ 'fleet.yaml': objects.map((object) => JSON.stringify(object)).join('\n---\n') });
    const tokenFile = join(fleet.dataDir, 'tokens.yaml');
    writeFileSync(tokenFile, DECLARED);
    log = new SilentLogger();
    const http = { host: '127.0.0.1', port: 0, tokenFile, protectMetrics: true };
    const controller = await fleet.serve({ http, log });
    url = controller.url ?? '';
    await controller.whenReady();
  });
  afterAll(() => fleet.close());

  beforeEach(async () => {
    await expect.poll(async () => (await ask(TOKENS.a, { placement: 'team-a/own' })).status).toBe(200);
    await expect.poll(async () => (await ask(TOKENS.a, { placement: 'team-a/wide' })).status).toBe(200);
    await expect.poll(async () => (await ask(TOKENS.b, { placement: 'team-b/web' })).status).toBe(200);
  });

  const ask = async (token: string, parameters: object, path = GETPARAMS_PATH) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ applicationSetName: 'web', input: { parameters } }),
    });
    const body = (await response.json()) as {
      readonly message?: string;
      readonly output?: { readonly parameters: readonly { readonly name: string }[] };
    };
    return {
      status: response.status,
      message: body.message,
      names: body.output?.parameters.map((p) => p.name),
    };
  };

  it('a tenant gets its own placement', async () => {
    expect(await ask(TOKENS.a, { placement: 'team-a/wide' })).toMatchObject({
      status: 200,
      names: ['c1', 'c2'],
    });
    expect(await ask(TOKENS.b, { placement: 'team-b/web' })).toMatchObject({ status: 200, names: ['c2'] });
  });

  it.each([
    ['by its full name', { placement: 'team-b/web' }],
    ['by name and namespace', { placement: 'web', namespace: 'team-b' }],
    ['with a namespace of its own beside it', { placement: 'team-b/web', namespace: 'team-a' }],
    ['with blanks around it', { placement: ' team-b/web ' }],
    ['with an empty answer allowed', { placement: 'team-b/web', onEmpty: 'allow' }],
    ['one group of it', { placement: 'team-b/web', group: 'x' }],
  ])('the placement of another tenant is 403, asked for %s', async (_name, parameters) => {
    const answer = await ask(TOKENS.a, parameters);
    expect(answer).toMatchObject({ status: 403, names: undefined });
    expect(answer.message).toBe('token argocd-a may not read placements of namespace team-b');
  });

  it('the answer does not tell whether the placement of another tenant exists', async () => {
    const there = await ask(TOKENS.a, { placement: 'team-b/web' });
    expect(await ask(TOKENS.a, { placement: 'team-b/no-such-placement' })).toEqual(there);
    expect((await ask(TOKENS.a, { placement: 'no-such-namespace/web' })).status).toBe(403);
  });

  it.each([
    ['parent folders', { placement: 'team-a/../team-b/web' }, 400],
    ['a namespace of parent folders', { placement: 'web', namespace: '../team-b' }, 400],
    ['an encoded slash', { placement: 'team-a%2F..%2Fteam-b/web' }, 403],
    ['upper case', { placement: 'TEAM-A/web' }, 403],
    ['a NUL behind its own namespace', { placement: 'team-a\u0000/web' }, 403],
    ['names of prototypes', { placement: '__proto__/constructor' }, 403],
    ['the star of a binding', { placement: '*/web' }, 403],
    ['a list for a name', { placement: ['team-b/web'] }, 400],
  ])('%s in the name of a placement lead nowhere', async (_name, parameters, status) => {
    expect((await ask(TOKENS.a, parameters)).status).toBe(status);
  });

  it('a placement that selects outside of the cluster sets of the token is refused whole', async () => {
    expect(await ask(TOKENS.inA, { placement: 'team-a/own' })).toMatchObject({ status: 200, names: ['c1'] });
    for (const parameters of [{ placement: 'team-a/wide' }, { placement: 'team-a/wide', group: 'none' }])
      expect(await ask(TOKENS.inA, parameters)).toMatchObject({
        status: 403,
        names: undefined,
        message: expect.stringContaining('outside of the cluster sets of token argocd-in-a'),
      });
  });

  it.each<[keyof typeof TOKENS, string, string, number]>([
    ['a', 'GET', '/api/v1/status', 403],
    ['a', 'POST', '/api/v1/reconcile', 403],
    ['operator', 'GET', '/api/v1/status', 200],
    ['operator', 'GET', '/metrics', 403],
    ['a', 'GET', '/metrics', 403],
    ['watcher', 'GET', '/metrics', 200],
    ['watcher', 'GET', '/api/v1/status', 403],
  ])('token %s: %s %s is %i', async (name, method, path, status) => {
    const headers = { authorization: `Bearer ${TOKENS[name]}` };
    expect((await fetch(`${url}${path}`, { method, headers })).status).toBe(status);
  });

  it('a token of another scope gets no decision, and no token no metrics', async () => {
    expect((await ask(TOKENS.operator, { placement: 'team-a/own' })).status).toBe(403);
    expect((await ask(TOKENS.operator, { placement: 'team-a/own' }, `/prefix${GETPARAMS_PATH}`)).status).toBe(
      403,
    );
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
  });

  it('a refusal is in the log and in the metrics with the name of the token, and nothing ever with the token', async () => {
    await ask(TOKENS.a, { placement: 'team-b/web' });
    expect(log.entries).toContainEqual({
      level: 'warn',
      message: 'plugin request was refused',
      fields: { token: 'argocd-a', applicationSet: 'web' },
    });
    const headers = { authorization: `Bearer ${TOKENS.watcher}` };
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
    expect(metrics).toMatch(
      /berth_plugin_answers_total\{application_set="web",status="403",token="argocd-a"\} \d+/,
    );
    const told = `${metrics}${JSON.stringify(log.entries)}`;
    for (const token of Object.values(TOKENS)) expect(told).not.toContain(token);
  });

  it.each<[string, string, readonly string[] | string | undefined]>([
    [
      'in the query string',
      `?token=${TOKENS.a}&access_token=${TOKENS.a}&authorization=Bearer%20${TOKENS.a}`,
      [],
    ],
    ['in two headers', '', [`Bearer ${TOKENS.a}`, `Bearer ${TOKENS.b}`]],
    ['behind a wrong one', '', ['Bearer nothing-of-the-sort', `Bearer ${TOKENS.a}`]],
    ['under another scheme', '', `Basic ${TOKENS.a}`],
    ['with another word behind it', '', `Bearer ${TOKENS.a} ${TOKENS.b}`],
    ['as its own hash', '', `Bearer ${sha256(TOKENS.a)}`],
    ['cut short', '', `Bearer ${TOKENS.a.slice(0, -1)}`],
    ['empty', '', 'Bearer '],
  ])('a token %s is not accepted', async (_name, query, authorization) => {
    expect(await statusOf(`${GETPARAMS_PATH}${query}`, authorization)).toBe(401);
  });

  it.each([`bearer ${TOKENS.a}`, `BEARER   ${TOKENS.a}`, `Bearer ${TOKENS.a}  `])(
    'RFC 6750 does not care how it is written: %j',
    async (authorization) => {
      expect(await statusOf(GETPARAMS_PATH, authorization)).toBe(400);
    },
  );

  /** With headers as they are; 400 is the answer to an empty body behind an accepted token. */
  const statusOf = (path: string, authorization: readonly string[] | string | undefined): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = http.request(`${url}${path}`, { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      if (authorization !== undefined) request.setHeader('authorization', authorization);
      request.on('error', reject);
      request.end();
    });

  it('berth status finds the token with the scope api in the declared file', async () => {
    const { io, stdout } = makeCliIo();
    await runCli(['status', '--server', url, '--token-file', join(fleet.dataDir, 'tokens.yaml')], io);
    expect(stdout()).toContain('team-b/web');
  });
});

describe('a token file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-token-file-'));
  const file = join(dir, 'tokens');
  afterAll(() => rmSync(dir, { recursive: true }));
  const TOKEN = 'a-token-that-is-secret';
  const opened = (text: string, log = new SilentLogger()) => {
    writeFileSync(file, text);
    return new BearerTokens({ file, clock: { now: () => 0 }, log });
  };
  const identify = (tokens: BearerTokens, token: string) =>
    tokens.identify({ headersDistinct: { authorization: [`Bearer ${token}`] } });

  it.each([
    ['plain', 'REPLACE-WITH-openssl-rand-hex-32\n'],
    ['declared', 'tokens: [{name: a, token: REPLACE-WITH-openssl-rand-hex-32, namespaces: [a]}]'],
    [
      'declared as a hash',
      `tokens: [{name: a, sha256: ${sha256('REPLACE-WITH-openssl-rand-hex-32')}, namespaces: [a]}]`,
    ],
  ])(
    'with the placeholder of the shipped manifest (%s) lets nobody in with it, and says so',
    (form, text) => {
      const log = new SilentLogger();
      expect(identify(opened(text, log), 'REPLACE-WITH-openssl-rand-hex-32')).toBe('placeholder');
      const said = log.entries.filter(({ level }) => level === 'error').map(({ message }) => message);
      if (form !== 'declared as a hash')
        expect(said).toEqual([
          'the token file contains the placeholder of the shipped manifest, which is refused',
        ]);
    },
  );

  it('warns of tokens that are not bound, without telling them', () => {
    const log = new SilentLogger();
    expect(identify(opened(`${TOKEN}\n`, log), TOKEN)).toMatchObject({ name: 'line-1', namespaces: 'any' });
    expect(log.entries).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'tokens without a binding may read every placement and use /api/v1',
      }),
    );
    expect(JSON.stringify(log.entries)).not.toContain(TOKEN);
  });

  it.each([
    ['a token without namespaces', `tokens:\n- name: a\n  token: ${TOKEN}\n`, ':2:3', 'needs namespaces'],
    ['neither token nor hash', 'tokens:\n- name: a\n  namespaces: [a]\n', ':2:3', 'either token or sha256'],
    [
      'both',
      `tokens: [{name: a, token: ${TOKEN}, sha256: ${sha256(TOKEN)}, namespaces: [a]}]`,
      ':1:10',
      'either token',
    ],
    ['a short token', 'tokens: [{name: a, token: short, namespaces: [a]}]', ':1:27', 'at least 16'],
    [
      'a hash of another kind',
      'tokens: [{name: a, sha256: abc, namespaces: [a]}]',
      ':1:28',
      '64 hexadecimal',
    ],
    ['an unknown scope', `tokens: [{name: a, token: ${TOKEN}, scopes: [all]}]`, ':1:60', 'plugin'],
    ['no scope', `tokens: [{name: a, token: ${TOKEN}, scopes: []}]`, ':1:59', 'Too small'],
    ['an unknown field', `tokens: [{name: a, token: ${TOKEN}, namespace: [a]}]`, ':1:10', 'namespace'],
    [
      'a pattern',
      `tokens: [{name: a, token: ${TOKEN}, namespaces: ["team-*"]}]`,
      ':1:64',
      'name of Kubernetes',
    ],
    ['a text for a list', `tokens: [{name: a, token: ${TOKEN}, namespaces: team-a}]`, ':1:63', 'array'],
    [
      'a number for a token',
      'tokens: [{name: a, token: 12345678901234567, namespaces: [a]}]',
      ':1:27',
      'string',
    ],
    ['a name twice', two('a', TOKEN, 'a', `${TOKEN}x`), ':3:10', 'second token named a'],
    ['one token under two names', two('a', TOKEN, 'b', TOKEN), ':3:3', 'same token'],
    ['no list', 'tokens: 1', ':1:9', 'array'],
    ['nothing in it', 'tokens: []', ':1:9', 'Too small'],
    ['JSON that ends early', `{"tokens": [{"token": "${TOKEN}"`, ':1:', ''],
    ['YAML that is broken', `tokens:\n- token: ${TOKEN}\n name: [`, ':', ''],
    ['an anchor that grows', `tokens: &a [*a, ${TOKEN}]`, ':', ''],
  ])('with %s is refused with its place, and the token is not told', (_name, text, place, problem) => {
    let error: unknown;
    try {
      opened(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ name: 'InputError', code: 'plugin.token' });
    const { message, hint } = error as { readonly message: string; readonly hint?: string };
    expect(message.toLowerCase()).toContain(problem.toLowerCase());
    expect(message).toContain(`${file}${place}`);
    expect(`${message} ${hint ?? ''}`).not.toContain(TOKEN);
  });

  function two(name: string, token: string, other: string, otherToken: string): string {
    const entry = (n: string, t: string): string => `- {name: ${n}, token: ${t}, namespaces: [x]}\n`;
    return `tokens:\n${entry(name, token)}${entry(other, otherToken)}`;
  }
});
