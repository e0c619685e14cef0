import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { importSPKI, jwtVerify } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { postCommitStatus } from '../../src/forge-of-url.ts';
import type { ForgeRepository } from '../../src/request/forge-repository.ts';
import { GitHubApp } from '../../src/github-like/github-app.ts';
import { startForge } from '../fakes/forge-server.ts';
import { tempDir } from '../../../git-reader/test/git-fixture.ts';

let running: Awaited<ReturnType<typeof startForge>> | undefined;
afterEach(() => running?.close());
const forge = async (...args: Parameters<typeof startForge>) => (running = await startForge(...args));

const STATUS = {
  commit: 'a'.repeat(40),
  state: 'failure' as const,
  description: 'x'.repeat(200),
  context: 'berth/fleet',
  targetUrl: 'https://berth.example/1',
};

describe('commit statuses', () => {
  it.each<[ForgeRepository['provider'], string, string, object, string]>([
    [
      'github',
      'team/fleet',
      `/repos/team/fleet/statuses/${STATUS.commit}`,
      { state: 'failure', context: 'berth/fleet', target_url: STATUS.targetUrl },
      'Bearer t',
    ],
    [
      'gitea',
      'team/fleet',
      `/repos/team/fleet/statuses/${STATUS.commit}`,
      { state: 'failure', context: 'berth/fleet' },
      'token t',
    ],
    [
      'gitlab',
      'group/sub/fleet',
      `/projects/group%2Fsub%2Ffleet/statuses/${STATUS.commit}`,
      { state: 'failed', name: 'berth/fleet' },
      'Bearer t',
    ],
    [
      'bitbucket',
      'team/fleet',
      `/repositories/team/fleet/commit/${STATUS.commit}/statuses/build`,
      { state: 'FAILED', key: 'berth/fleet', url: STATUS.targetUrl },
      'Bearer t',
    ],
    [
      'azure-devops',
      'o/p/r',
      `/o/p/_apis/git/repositories/r/commits/${STATUS.commit}/statuses?api-version=7.1`,
      { state: 'failed', context: { genre: 'berth', name: 'fleet' } },
      `Basic ${Buffer.from(':t').toString('base64')}`,
    ],
  ])('%s', async (...[provider, repository, url, body, authorization]) => {
    const { apiUrl, seen } = await forge(() => ({ status: 201, body: {} }));
    await postCommitStatus({ provider, apiUrl, repository, token: async () => 't' }, STATUS);
    expect(seen).toMatchObject([{ method: 'POST', url, authorization, body }]);
    expect((seen[0]?.body as { description: string }).description).toHaveLength(140);
  });

  it.each([
    [503, 'TransientError', 'scm.unavailable'],
    [429, 'TransientError', 'scm.unavailable'],
    [401, 'InputError', 'scm.auth'],
    [422, 'InputError', 'scm.refused'],
  ])('an answer of %i is a %s', async (status, name, code) => {
    const { apiUrl } = await forge(() => ({ status, headers: { 'retry-after': '7' } }));
    const posting = postCommitStatus(
      { provider: 'github', apiUrl, repository: 'a/b', token: async () => 't' },
      STATUS,
    );
    await expect(posting).rejects.toMatchObject({
      name,
      code,
      ...(name === 'TransientError' ? { retryAfterMs: 7000 } : {}),
    });
  });

  it('a forge that is gone is a TransientError', async () => {
    const posting = postCommitStatus(
      { provider: 'github', apiUrl: 'http://127.0.0.1:1', repository: 'a/b', token: async () => 't' },
      STATUS,
    );
    await expect(posting).rejects.toMatchObject({
      name: 'TransientError',
      code: 'scm.network',
      message: expect.stringMatching(/at http:\/\/127\.0\.0\.1:1: .*(bad port|ECONNREFUSED)/) as string,
      hint: expect.stringContaining('apiUrl') as string,
    });
  });
});

describe('a GitHub App', () => {
  it('signs in, keeps its token, and renews it in time', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const privateKeyFile = path.join(tempDir(), 'app.pem');
    writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    let nowMs = Date.parse('2026-03-01T12:00:00Z');
    const { apiUrl, seen } = await forge((count) => ({
      status: 201,
      body: { token: `t${count}`, expires_at: new Date(nowMs + 3_600_000).toISOString() },
    }));
    const app = new GitHubApp({
      appId: '42',
      installationId: '7',
      privateKey: async () => readFileSync(privateKeyFile, 'utf8'),
      apiUrl,
      nowMs: () => nowMs,
    });
    expect(await app.credentials()).toEqual({
      type: 'password',
      username: 'x-access-token',
      password: 't1',
    });
    expect(await app.token()).toBe('t1');
    nowMs += 3_400_000;
    expect(await app.token()).toBe('t2');
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/app/installations/7/access_tokens' });
    const jwt = (seen[0]?.authorization ?? '').replace('Bearer ', '');
    const key = await importSPKI(publicKey.export({ type: 'spki', format: 'pem' }) as string, 'RS256');
    const { payload } = await jwtVerify(jwt, key, {
      issuer: '42',
      currentDate: new Date('2026-03-01T12:00:00Z'),
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(600);
  });
});
