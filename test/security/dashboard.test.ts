import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken, askDashboard, tenantToken } from '../app/serve/dashboard/dashboard-client.ts';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';

const JSON_BODY = { 'content-type': 'application/json' };
const PATHS = [
  '/ui/events',
  '/ui/session',
  ...['/fleet', '/story', '/change?drain=c1', '/change?pr=1', '/clusters/c1'].map((path) => `/ui/api${path}`),
  ...['', '/history', '/causes', '/clusters/c1'].map((path) => `/ui/api/placements/team-a/web${path}`),
];

describe('the dashboard and strangers', () => {
  let fleet: ServedFleet;
  let url: string | undefined;
  let admin: string;
  let tenant: string;
  beforeAll(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
    ({ url } = await fleet.serve({ http: fleet.http() }));
    await fleet.published('web');
    admin = adminToken(fleet.hub.kubeconfig);
    tenant = await tenantToken(fleet.hub.api, 'team-a');
  });
  afterAll(() => fleet.close());
  const ask = (path: string, init?: Parameters<typeof askDashboard>[2]) => askDashboard(url, path, init);
  const login = (token: unknown, headers: Record<string, string> = {}) =>
    ask('/ui/session', {
      method: 'POST',
      headers: { ...JSON_BODY, ...headers },
      body: JSON.stringify({ token }),
    });

  it.each(PATHS)('%s needs a token of the hub', async (path) => {
    expect((await ask(path)).status).toBe(401);
    expect((await ask(path, { token: 'wrong' })).status).toBe(401);
    // A token of the plugin endpoint is none of the hub.
    expect((await ask(path, { token: 'a-token-of-this-test' })).status).toBe(401);
    expect((await ask(path, { headers: { cookie: 'berth-session=AAAA' } })).status).toBe(401);
  });

  it('keeps a session in a cookie that no script reads and no other site sends', async () => {
    expect((await login('wrong')).status).toBe(401);
    for (const strange of [undefined, 7, '', 'two words', 'new\nline', { token: admin }])
      expect((await login(strange)).status).toBe(401);
    const { status, headers, text } = await login(admin);
    const set = headers.get('set-cookie') ?? '';
    expect(status).toBe(200);
    expect(set).toMatch(/^berth-session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    expect(set + text).not.toContain(admin);
    const [cookie = ''] = set.split(';');
    expect((await ask('/ui/api/fleet', { headers: { cookie } })).status).toBe(200);
    // One bit more or less, and it is none.
    const forged = `${cookie.slice(0, -3)}${cookie.endsWith('A') ? 'BBB' : 'AAA'}`;
    expect((await ask('/ui/api/fleet', { headers: { cookie: forged } })).status).toBe(401);
    const out = await ask('/ui/session', { method: 'DELETE', headers: { cookie } });
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
  });

  it('ends a session after twelve hours', async () => {
    const { headers } = await login(admin);
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    fleet.clock.skip(12 * 3_600_000 + 1);
    expect((await ask('/ui/api/fleet', { headers: { cookie } })).status).toBe(401);
  });

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a form that looks like JSON', { 'content-type': 'text/plain' }, 415],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an origin without a name', { origin: 'null' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }, 403],
  ])('refuses to log in from %s', async (_name, headers: Record<string, string>, want) => {
    // fetch sets some of these headers itself.
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${url}/ui/session`, { method: 'POST', headers: { ...JSON_BODY, ...headers } });
      sent.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject);
      sent.end(JSON.stringify({ token: admin }));
    });
    expect(status).toBe(want);
  });

  it.each(['/', '/p/a/b', '/c/x', '/change?drain=x', '/ui/api/fleet', '/ui/session', '/ui/none'])(
    'sends strict headers with %s',
    async (path) => {
      const { headers } = await ask(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(/script-src[^;]*unsafe/.exec(policy)).toBeNull();
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it('puts nothing of an address into the page', async () => {
    const plain = await ask('/');
    const hostile = await ask('/p/%3Cscript%3Ealert(1)%3C%2Fscript%3E/x?y=%22%3E%3Cscript%3E');
    expect(hostile.text).toBe(plain.text);
    expect(plain.text).not.toMatch(/<script(?![^>]* src=)/);
  });

  it('has no secret in any answer', async () => {
    for (const path of PATHS.filter((one) => one !== '/ui/events')) {
      const { text, headers } = await ask(path, { token: admin });
      for (const secret of [admin, tenant, 'a-token-of-this-test']) {
        expect(text).not.toContain(secret);
        expect(JSON.stringify([...headers])).not.toContain(secret);
      }
    }
  });

  it.each(['/ui/api/clusters/..%2f..%2fetc', '/ui/api/placements/%00/x', '/ui/api/clusters/%ff', '/p/%ff/x'])(
    'answers a strange path %s without an internal error',
    async (path) => {
      expect((await ask(path, { token: admin })).status).toBeLessThan(500);
    },
  );

  it('refuses long bodies', async () => {
    expect((await login('x'.repeat(20_000))).status).toBe(400);
  });

  it('drops viewers that open too many streams, and holds up nobody for one that does not read', async () => {
    const { port, hostname } = new URL(url ?? '');
    const sockets = Array.from({ length: 25 }, () => connect(Number(port), hostname));
    const first = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.once('data', (chunk) => {
            resolve(String(chunk).slice(9, 12));
            socket.pause();
          });
          socket.write(`GET /ui/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant}\r\n\r\n`);
        }),
    );
    const codes = await Promise.all(first);
    expect(codes.filter((code) => code === '200')).toHaveLength(20);
    expect(codes.filter((code) => code === '503')).toHaveLength(5);
    expect((await ask('/ui/api/fleet', { token: admin })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('ends the stream of somebody whose token was taken away', async () => {
    const account = { namespace: 'team-a', name: 'tenant' };
    const response = await fleet.until(async () => {
      const headers = { authorization: `Bearer ${tenant}` };
      const opened = await fetch(`${url}/ui/events`, { headers });
      if (opened.status === 200) return opened;
      await opened.text();
      return undefined;
    });
    const { SERVICE_ACCOUNT } = await import('@berth/kube/model/kinds');
    await fleet.hub.api.delete(SERVICE_ACCOUNT, account);
    // The hub notices within seconds; each heartbeat asks again.
    const beats = setInterval(() => fleet.clock.skip(20_000), 200);
    await response.text();
    clearInterval(beats);
    expect((await ask('/ui/api/fleet', { token: tenant })).status).toBe(401);
  });
});
