import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitProgramMirror } from '../../../packages/git-reader/src/program/git-program-mirror.ts';
import { InProcessMirror } from '../../../packages/git-reader/src/in-process/in-process-mirror.ts';
import type { CredentialSettings } from '../../../src/app/settings/source-settings.ts';
import { serveSource } from '../../../src/app/settings/serve-source.ts';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import { serveHttp } from '../../../packages/git-reader/test/git-servers.ts';
import { startForge } from '../../../packages/forge/test/fakes/forge-server.ts';

const MIRRORS = [GitProgramMirror, InProcessMirror] as const;

describe('a token of a GitHub App that the forge refuses before it ends', () => {
  it.each([
    ['from files', 401],
    ['from files', 404],
    ['from a Secret', 401],
  ])('is not used again: %s, answered with %i', async (from, status) => {
    const forge = await startForge((count) => ({
      status: 201,
      body: { token: `t${count}`, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
    }));
    const app = { appId: '42', installationId: '7', apiUrl: forge.apiUrl };
    const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs1',
      format: 'pem',
    }) as string;
    const privateKeyFile = path.join(tempDir(), 'key.pem');
    writeFileSync(privateKeyFile, pem);
    const inSecret = {
      githubAppID: '42',
      githubAppInstallationID: '7',
      githubAppPrivateKey: pem,
      githubAppBaseURL: forge.apiUrl,
    };
    const data = Object.fromEntries(
      Object.entries(inSecret).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    const api = { get: async () => ({ data }) } as unknown as KubeApi;
    const credentials: CredentialSettings =
      from === 'from files'
        ? { githubApp: { ...app, privateKeyFile } }
        : { secretRef: { name: 'git', namespace: 'berth' } };

    const fixture = new GitFixture();
    const commit = fixture.commit({ 'a.yaml': 'a' });
    let good = 1;
    const server = await serveHttp(fixture.dir, {
      intercept: (request, response) => {
        const want = `Basic ${Buffer.from(`x-access-token:t${good}`).toString('base64')}`;
        if (request.headers.authorization === want) return false;
        response.writeHead(status, { 'www-authenticate': 'Basic realm="git"' }).end();
        return true;
      },
    });
    for (const Mirror of MIRRORS) {
      const context = { api, dataDir: tempDir(), nowMs: () => Date.now() };
      const { auth, close } = serveSource({ name: 'fleet', url: server.url, credentials }, context);
      const mirror = await Mirror.open({ url: server.url, mirrorDir: tempDir(), ambient: process.env, auth });
      expect(await mirror.fetch({ type: 'head' })).toBe(commit);
      // Revoked: the one that comes next is good.
      good += 1;
      await expect(mirror.fetch({ type: 'head' })).rejects.toMatchObject({ name: 'InputError' });
      expect(await mirror.fetch({ type: 'head' })).toBe(commit);
      good += 1;
      await mirror.close();
      await close?.();
    }
    await server.close();
    await forge.close();
    fixture.remove();
  });
});
