import { request } from 'node:http';
import { RELEASED_ANNOTATION } from '../../src/core/publish/approval/publish-annotations.ts';
import { holdCode } from '../../src/core/publish/approval/approval-code.ts';
import type { Logger } from '@berth/runtime/logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken, askDashboard, tenantToken } from '../app/serve/dashboard/dashboard-client.ts';
import { baseFiles, placement, retired, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';

const JSON_BODY = { 'content-type': 'application/json' };
const PATH = '/ui/api/placements/team-a/all/release';

/** The one action of the dashboard is the viewer's own request to the hub. */
describe('releases from the dashboard', () => {
  let fleet: ServedFleet;
  let url: string | undefined;
  let code = '';
  let admin: string;
  const logged: (readonly [message: string, fields: unknown])[] = [];
  beforeAll(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'all.yaml': yaml(placement('all')) });
    const note = (message: string, fields?: unknown): void => void logged.push([message, fields]);
    const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };
    ({ url } = await fleet.serve({ http: fleet.http(), log }));
    await fleet.published('all');
    fleet.git.commit({ 'clusters.yaml': retired(4) });
    code = holdCode((await fleet.held('all', 'True')).message) ?? '';
    admin = adminToken(fleet.hub.kubeconfig);
  });
  afterAll(() => fleet.close());

  const ask = (path: string, init?: Parameters<typeof askDashboard>[2]) => askDashboard(url, path, init);
  const release = (token: string | undefined, body: unknown = { code }, path = PATH) =>
    ask(path, {
      method: 'POST',
      headers: JSON_BODY,
      body: JSON.stringify(body),
      ...(token !== undefined && { token }),
    });
  const token = (name: string, verbs: readonly string[], namespace = 'team-a') =>
    tenantToken(fleet.hub.api, namespace, { name, verbs });
  const isHeld = async (): Promise<boolean> =>
    (await fleet.read('all')).metadata.annotations?.[RELEASED_ANNOTATION] === undefined;

  it('needs a token of the hub', async () => {
    expect((await release(undefined)).status).toBe(401);
    expect((await release('wrong')).status).toBe(401);
    expect((await ask(PATH)).status).toBe(401);
    // A token of the plugin endpoint is none of the hub.
    expect((await release('a-token-of-this-test')).status).toBe(401);
    expect(await isHeld()).toBe(true);
  });

  it.each([
    ['may read only', 'reader', ['get']],
    ['may write without reading', 'writer', ['patch']],
    ['may replace only', 'updater', ['get', 'update']],
  ])('refuses somebody who %s, as the hub does', async (_who, name, verbs) => {
    const own = await token(name, verbs);
    const { status, text } = await release(own);
    expect([status, text]).toEqual([403, expect.stringContaining('placements')]);
    expect(await isHeld()).toBe(true);
  });

  it('gives no right of another namespace', async () => {
    const other = await token('other', ['get', 'patch'], 'default');
    expect((await release(other)).status).toBe(403);
    expect((await ask(PATH, { token: other })).json).toEqual({ allowed: false });
    expect(await isHeld()).toBe(true);
  });

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a form that looks like JSON', { 'content-type': 'text/plain' }, 415],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an origin without a name', { origin: 'null' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }, 403],
    ['an address that somebody typed', { 'sec-fetch-site': 'none' }, 403],
  ])(
    'refuses %s, with the cookie of an administrator',
    async (_what, headers: Record<string, string>, want) => {
      const login = await ask('/ui/session', {
        method: 'POST',
        headers: JSON_BODY,
        body: JSON.stringify({ token: admin }),
      });
      const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
      // fetch sets some of these headers itself.
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const sent = request(`${url}${PATH}`, {
          method: 'POST',
          headers: { ...JSON_BODY, cookie, ...headers },
        });
        sent.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject);
        sent.end(JSON.stringify({ code }));
      });
      expect(status).toBe(want);
      expect(await isHeld()).toBe(true);
    },
  );

  it.each(['GET', 'PUT', 'DELETE'])('does nothing for %s', async (method) => {
    await ask(`${PATH}?code=${code}`, { method, token: admin });
    expect(await isHeld()).toBe(true);
  });

  it.each([
    [null, 400],
    [{}, 400],
    [{ code: 7 }, 400],
    [{ code: [code] }, 400],
    [{ code: 'x'.repeat(5_000) }, 400],
    [{ code: '0123456789ab' }, 409],
  ])('refuses the body %j', async (body, want) => {
    expect((await release(admin, body)).status).toBe(want);
    expect(await isHeld()).toBe(true);
  });

  it.each(['/ui/api/placements/team-a/none/release', '/ui/api/placements/..%2f/x/release'])(
    'finds nothing at %s',
    async (path) => {
      const { status } = await release(admin, { code }, path);
      expect([404, 409]).toContain(status);
    },
  );

  it('does it for somebody who may patch, once, and records who it was', async () => {
    const approver = await token('approver', ['get', 'patch']);
    expect((await ask(PATH, { token: approver })).json).toEqual({ allowed: true });
    expect((await release(approver)).status).toBe(200);
    await fleet.held('all', 'False');
    const user = 'system:serviceaccount:team-a:approver';
    expect(logged).toContainEqual(['released from the dashboard', { user, placement: 'team-a/all', code }]);
    const { json } = await fleet.until(async () => {
      const answer = await ask('/ui/api/placements/team-a/all/history', { token: admin });
      return answer.json.records?.[0]?.released == null ? undefined : answer;
    });
    expect(json.records[0].released.by).toMatch(new RegExp(`^${user} on the dashboard at 20`));
    expect((await release(approver)).status).toBe(409);
    expect(logged.flatMap((entry) => JSON.stringify(entry)).join('')).not.toContain(approver);
  });
});
