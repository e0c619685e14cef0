import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import { mayAffectRef } from '@berth/git-reader/repository/git-ref';
import type { ControllerHttpOptions } from '../../../../src/app/serve/http/controller-http-options.ts';
import { webhookRoute } from '../../../../src/app/serve/http/webhook-route.ts';

const URL_OF = { fleet: 'https://git.example/team/fleet.git', apps: 'git@git.example:team/apps.git' };

describe('deliveries to /webhooks', () => {
  let dir: string;
  let server: http.Server;
  let fetched: string[];
  const secretFile = () => join(dir, 'secret');
  const loop = (name: keyof typeof URL_OF, ref: GitRef) => ({
    url: URL_OF[name],
    concerns: (pushed: string) => mayAffectRef(ref, pushed),
    fetch: () => void fetched.push(name),
  });
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-webhook-'));
    writeFileSync(secretFile(), 'first\n');
    fetched = [];
    const webhookSecretFiles = { github: secretFile(), generic: secretFile(), 'azure-devops': secretFile() };
    nowMs = 0;
    const parts = {
      options: { clock: { now: () => nowMs }, log: new SilentLogger(), http: { webhookSecretFiles } },
      loops: [loop('fleet', { type: 'branch', name: 'main' }), loop('apps', { type: 'semver', range: '^1' })],
    };
    const app = express().use('/webhooks', webhookRoute(parts as unknown as ControllerHttpOptions));
    server = http.createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true });
  });
  let nowMs: number;
  const deliver = async (
    provider: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<number> => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/${provider}`;
    const response = await fetch(url, { method: 'POST', headers, body });
    ({ message } = (await response.json()) as { message: string });
    return response.status;
  };
  /** Of the last answer. */
  let message: string;
  const hmac = (body: string, secret: string) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const generic = (payload: object | undefined, secret = 'first') => {
    const body = payload === undefined ? '' : JSON.stringify(payload);
    return deliver('generic', body, { 'x-signature-256': hmac(body, secret) });
  };

  it.each<[string, object | undefined, readonly string[], string?]>([
    ['a body that is empty means every source', undefined, ['fleet', 'apps']],
    ['a push without a repository means those that follow its ref', { ref: 'refs/tags/v1.1.0' }, ['apps']],
    ['a repository means its sources', { repository: 'https://git.example/team/fleet' }, ['fleet']],
    ['its branch', { repository: URL_OF.fleet, ref: 'refs/heads/main' }, ['fleet']],
    [
      'another branch of it concerns nobody',
      { repository: URL_OF.fleet, ref: 'refs/heads/feature' },
      [],
      'received, no source follows refs/heads/feature',
    ],
    [
      'nor does a tag of a followed branch',
      { repository: URL_OF.fleet, ref: 'refs/tags/main' },
      [],
      'received, no source follows refs/tags/main',
    ],
    ['a name that is not in full may be anything', { repository: URL_OF.fleet, ref: 'feature' }, ['fleet']],
    [
      'an unknown repository concerns nobody',
      { repository: 'https://git.example/team/other' },
      [],
      'received, no source follows it: https://git.example/team/other',
    ],
  ])('%s', async (_name, payload, want, answer = 'received') => {
    expect(await generic(payload)).toBe(202);
    expect({ fetched, message }).toEqual({ fetched: want, message: answer });
  });

  it.each([
    ['is not there', 'gone', /gone: cannot be read: ENOENT/],
    ['is a directory', '.', /is not a regular file/],
    ['is empty', 'empty', /empty: is empty, expected one webhook secret per line/],
  ])('a file of secrets that %s is said at the start', (_name, file, message) => {
    writeFileSync(join(dir, 'empty'), '\n');
    const webhookSecretFiles = { github: join(dir, file) };
    const log = new SilentLogger();
    const parts = { options: { clock: { now: () => 0 }, log, http: { webhookSecretFiles } }, loops: [] };
    expect(() => webhookRoute(parts as unknown as ControllerHttpOptions)).toThrow(
      expect.objectContaining({
        name: 'InputError',
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });

  it('a push of a forge that names no repository concerns nobody', async () => {
    const body = '{"ref": "refs/heads/main"}';
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': hmac(body, 'first') };
    expect(await deliver('github', body, headers)).toBe(202);
    expect({ fetched, message }).toEqual({
      fetched: [],
      message: 'received, no source follows it: it names no repository',
    });
  });

  it('a pull request where no source has previews says so', async () => {
    const body = JSON.stringify({ action: 'opened', number: 7, repository: { clone_url: URL_OF.fleet } });
    const headers = { 'x-github-event': 'pull_request', 'x-hub-signature-256': hmac(body, 'first') };
    expect(await deliver('github', body, headers)).toBe(202);
    expect(message).toBe('received, no source plans pull requests');
  });

  it('of a forge without a file of secrets say how to accept them', async () => {
    expect(await deliver('gitlab', '{}', {})).toBe(404);
    expect(message).toBe('webhooks of gitlab are not accepted: start berth serve with --webhook gitlab=FILE');
  });

  it('one of Azure DevOps that moved several branches concerns each source that follows any of them', async () => {
    const push = (...names: string[]) =>
      JSON.stringify({
        eventType: 'git.push',
        resource: { refUpdates: names.map((name) => ({ name })), repository: { remoteUrl: URL_OF.fleet } },
      });
    const authorization = `Basic ${Buffer.from('any user:first').toString('base64')}`;
    expect(await deliver('azure-devops', push('refs/heads/x'), { authorization })).toBe(202);
    expect(fetched).toEqual([]);
    expect(await deliver('azure-devops', push('refs/heads/x', 'refs/heads/main'), { authorization })).toBe(
      202,
    );
    expect(fetched).toEqual(['fleet']);
    const wrong = `Basic ${Buffer.from('first:other').toString('base64')}`;
    expect(await deliver('azure-devops', push('refs/heads/main'), { authorization: wrong })).toBe(401);
  });

  it('a secret that is changed counts a second later', async () => {
    writeFileSync(secretFile(), 'second\n');
    nowMs += 1_000;
    expect(await generic(undefined, 'first')).toBe(401);
    expect(await generic(undefined, 'second')).toBe(202);
  });
});
