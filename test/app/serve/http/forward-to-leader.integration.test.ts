import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ControllerHttpOptions } from '../../../../src/app/serve/http/controller-http-options.ts';
import { webhookRoute } from '../../../../src/app/serve/http/webhook-route.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const FORGES = ['gitea', 'gitlab', 'azure-devops'] as const;
const FLEET = 'https://git.example/team/fleet.git';

interface Controller {
  readonly url: string;
  readonly taken: string[];
  readonly leadership: { isHeld: boolean };
}

describe('deliveries to one of several controllers', () => {
  let dir: string;
  const servers: http.Server[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-peers-'));
    writeFileSync(join(dir, 'secret'), 'a-secret\n');
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
    rmSync(dir, { recursive: true });
  });

  async function controller(isHeld: boolean, peers: readonly string[] = []): Promise<Controller> {
    const [taken, leadership] = [[] as string[], { isHeld }];
    const parts = {
      options: {
        clock: { now: () => 0 },
        log: new SilentLogger(),
        http: {
          webhookSecretFiles: Object.fromEntries(FORGES.map((forge) => [forge, join(dir, 'secret')])),
          peers,
        },
      },
      loops: [
        {
          url: FLEET,
          concerns: () => true,
          fetch: () => void taken.push('push'),
        },
      ],
      leadership,
      previews: {
        take: ({ kind, repositoryUrls }: { kind: string; repositoryUrls: readonly string[] }) => {
          taken.push(kind);
          return repositoryUrls.includes(FLEET);
        },
      },
    };
    const app = express().use('/webhooks', webhookRoute(parts as unknown as ControllerHttpOptions));
    const server = http.createServer(app);
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, taken, leadership };
  }

  async function deliver({ url }: Controller, event: string, secret = 'a-secret', id = '1') {
    const comment = { id: 1, body: '/berth plan', user: { login: 'ada' } };
    const body = JSON.stringify({
      ref: 'refs/heads/main',
      repository: { clone_url: FLEET },
      ...(event !== 'push' && { action: 'created', is_pull: true, issue: { number: 7 }, comment }),
    });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'x-gitea-event': event, 'x-gitea-signature': signature, 'x-gitea-delivery': id };
    const response = await fetch(`${url}/webhooks/gitea`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  }

  it('reach the leader through one that stands by, as they came', async () => {
    const leader = await controller(true);
    const other = await controller(false);
    const standby = await controller(false, ['http://127.0.0.1:1', other.url, `${leader.url}/`]);
    expect(await deliver(standby, 'issue_comment')).toMatchObject({ status: 202 });
    expect([leader.taken, other.taken, standby.taken]).toEqual([['comment'], [], []]);
    // Sent again, it counts once.
    expect(await deliver(standby, 'issue_comment')).toMatchObject({ status: 202 });
    expect(leader.taken).toEqual(['comment']);
    // What was not signed is not forwarded.
    expect(await deliver(standby, 'issue_comment', 'a-guess', '2')).toMatchObject({ status: 401 });
    // A push concerns each controller that gets it.
    expect(await deliver(standby, 'push', 'a-secret', '3')).toMatchObject({ status: 202 });
    expect([leader.taken, standby.taken]).toEqual([['comment'], ['push']]);
  });

  const merge = { iid: 7, action: 'merge' };
  it.each<[(typeof FORGES)[number], string, Record<string, string>, object]>([
    [
      'gitlab',
      'System Hooks of GitLab',
      { 'x-gitlab-event': 'System Hook', 'x-gitlab-token': 'a-secret' },
      { object_kind: 'merge_request', project: { git_http_url: FLEET }, object_attributes: merge },
    ],
    [
      'azure-devops',
      'Azure DevOps, which names the event in the body',
      { authorization: `Basic ${Buffer.from('any:a-secret').toString('base64')}` },
      {
        eventType: 'git.pullrequest.created',
        resource: { pullRequestId: 7, status: 'active', repository: { remoteUrl: FLEET } },
      },
    ],
  ])('of %s reach the leader as well: %s', async (forge, _name, headers, payload) => {
    const leader = await controller(true);
    const standby = await controller(false, [leader.url]);
    const send = async (body: object) => {
      const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
      const response = await fetch(`${standby.url}/webhooks/${forge}`, {
        ...request,
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()];
    };
    expect(await send(payload)).toEqual([202, { message: 'forwarded to the leader' }]);
    expect([leader.taken, standby.taken]).toEqual([['pull-request'], []]);
    // As leader it says itself what it does not use.
    standby.leadership.isHeld = true;
    const elsewhere = JSON.parse(JSON.stringify(payload).replace('team/fleet', 'team/other')) as object;
    expect(await send(elsewhere)).toEqual([
      202,
      { message: 'received, no source plans its pull requests: https://git.example/team/other.git' },
    ]);
  });

  it('are failed where nobody leads, and taken when they come again', async () => {
    const first = await controller(false);
    const second = await controller(false, [first.url]);
    expect(await deliver(second, 'issue_comment')).toEqual({ status: 503, retryAfter: '10' });
    second.leadership.isHeld = true;
    expect(await deliver(second, 'issue_comment')).toMatchObject({ status: 202 });
    expect([first.taken, second.taken]).toEqual([[], ['comment']]);
  });
});
