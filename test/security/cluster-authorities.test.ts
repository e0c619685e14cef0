import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backupData, restoreData } from '@berth/embedded-hub/maintenance/backup-file';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { openConnection } from './certificate-connection.ts';
import { freshKey, keyPem, plainSubject, requestPem } from './certificate-requests.ts';
import { askAndApprove, certificateOf, whoami } from './certificate-signing.ts';

const AUTHENTICATION = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const CLUSTERS = ['', '/clusters/east', '/clusters/west'];
const privateKey = freshKey();
const key = keyPem(privateKey);

let hub: TestHub;
const issued = new Map<string, string>();
beforeAll(async () => {
  hub = await startTestHub({ members: ['east', 'west'] });
});
afterAll(() => hub.stop());

async function certificateFrom(from: TestHub, at: string): Promise<string> {
  const pem = requestPem({ subject: plainSubject('mallory', 'devs'), privateKey });
  return certificateOf(await askAndApprove(from, pem, { at })) ?? '';
}

/** One of each cluster does for all tests. */
async function certificateBy(at: string): Promise<string> {
  const known = issued.get(at) ?? (await certificateFrom(hub, at));
  issued.set(at, known);
  return known;
}

const authorities = async (from: TestHub, at: string) =>
  (await from.call('GET', `${at}${AUTHENTICATION}`)).body.data as Record<string, string>;

describe('a certificate that one cluster issued', () => {
  const pairs = CLUSTERS.flatMap((from) => CLUSTERS.map((to) => [from, to] as const));

  it.each(pairs)('of "%s" is nothing to the others: "%s"', async (from, to) => {
    const mallory = { username: 'mallory', groups: ['devs', 'system:authenticated'] };
    const cert = await certificateBy(from);
    expect(await whoami(hub, { cert, key }, to)).toEqual(from === to ? mallory : 401);
  });

  it('is nothing to the others on a connection where it is good for one', async () => {
    const cert = await certificateBy('/clusters/east');
    const connection = openConnection(hub, { cert, key });
    const statuses: number[] = [];
    for (const path of ['/clusters/east/api', '/api', '/clusters/west/api', '/clusters/east/api'])
      statuses.push(await connection.status(path));
    connection.close();
    expect(statuses).toEqual([200, 401, 401, 200]);
  });

  it('does not keep out who shows a good token beside it', async () => {
    const cert = await certificateBy('/clusters/east');
    expect((await hub.call('GET', '/api', { cert, key })).status).toBe(200);
  });

  it('is nothing to the others when its TLS session is resumed', async () => {
    const cert = await certificateBy('/clusters/east');
    const shown = {
      host: '127.0.0.1',
      port: hub.hub.port,
      ca: hub.hub.caPem,
      servername: 'localhost',
      cert,
      key,
    };
    const ask = (socket: TLSSocket, path: string): Promise<string> =>
      new Promise((resolve, reject) => {
        socket.on('error', reject);
        socket.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\r\n')[0] ?? ''));
        socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
      });
    const first = tlsConnect(shown);
    const session = new Promise<Buffer>((resolve) => first.once('session', resolve));
    expect(await ask(first, '/clusters/east/api')).toBe('HTTP/1.1 200 OK');
    const resumed = async (path: string): Promise<[boolean, string]> => {
      const socket = tlsConnect({ ...shown, session: await session });
      const answer = await ask(socket, path);
      return [socket.isSessionReused(), answer];
    };
    expect(await resumed('/api')).toEqual([true, 'HTTP/1.1 401 Unauthorized']);
    expect(await resumed('/clusters/east/api')).toEqual([true, 'HTTP/1.1 200 OK']);
    first.destroy();
  });

  it('is made by the command for one cluster, too', async () => {
    const text = await issueKubeconfig(
      { dataDir: hub.dataDir, user: 'alice', groups: [], cluster: 'east', certificateDays: 1 },
      Date.now(),
    );
    const part = (name: string): string =>
      Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString();
    const alice = { cert: part('client-certificate-data'), key: part('client-key-data') };
    expect(await whoami(hub, alice, '/clusters/east')).toMatchObject({ username: 'alice' });
    expect([await whoami(hub, alice), await whoami(hub, alice, '/clusters/west')]).toEqual([401, 401]);
  });

  it.each(['a\nb', '', 'front-proxy'])('is not made by the command for the user %j', async (user) => {
    const request = { dataDir: hub.dataDir, user, groups: [], cluster: '', certificateDays: 1 };
    await expect(issueKubeconfig(request, Date.now())).rejects.toThrow('--user: ');
  });
});

describe('the authority that vouches for users towards extension servers', () => {
  it('is one for each cluster, and issues nothing that anybody can ask for', async () => {
    const all = await Promise.all(CLUSTERS.map((at) => authorities(hub, at)));
    const pems = all.flatMap((data) => [data['client-ca-file'], data['requestheader-client-ca-file']]);
    expect(new Set(pems).size).toBe(2 * CLUSTERS.length);
    for (const [index, at] of CLUSTERS.entries()) {
      const certificate = new X509Certificate(await certificateBy(at));
      const frontProxy = new X509Certificate(all[index]?.['requestheader-client-ca-file'] ?? '');
      expect(certificate.verify(frontProxy.publicKey)).toBe(false);
    }
  });

  it('is not replaced for good by who may write its ConfigMap: a start puts it back', async () => {
    const before = await authorities(hub, '/clusters/east');
    await hub.call('PATCH', `/clusters/east${AUTHENTICATION}`, {
      type: 'application/merge-patch+json',
      body: { data: { 'requestheader-client-ca-file': hub.hub.caPem, extra: 'x' } },
    });
    await hub.restart();
    expect(await authorities(hub, '/clusters/east')).toEqual({ ...before, extra: 'x' });
  });
});

describe('a data directory', () => {
  it('of before, where all clusters had one authority: certificates stay good for the hub alone', async () => {
    const old = await startTestHub({ members: ['east'] });
    const fromHub = await certificateFrom(old, '');
    for (const at of ['', '/clusters/east'])
      await old.call('PATCH', `${at}${AUTHENTICATION}`, {
        type: 'application/merge-patch+json',
        body: { data: { 'client-ca-file': old.hub.caPem, 'requestheader-client-ca-file': old.hub.caPem } },
      });
    for (const file of ['members.json', 'front-proxy-ca.crt', 'front-proxy-ca.key'])
      rmSync(join(old.dataDir, 'pki', file));
    await old.restart();
    expect(await whoami(old, { cert: fromHub, key })).toMatchObject({ username: 'mallory' });
    expect(await whoami(old, { cert: fromHub, key }, '/clusters/east')).toBe(401);
    const [ofHub, ofEast] = [await authorities(old, ''), await authorities(old, '/clusters/east')];
    expect(ofHub['client-ca-file']).toBe(old.hub.caPem);
    const published = [
      ofHub['requestheader-client-ca-file'],
      ofEast['client-ca-file'],
      ofEast['requestheader-client-ca-file'],
    ];
    expect(published).not.toContain(old.hub.caPem);
    await old.stop();
  });

  it('whose authority was removed gets another, and no earlier certificate is good any more', async () => {
    const rotated = await startTestHub();
    const cert = await certificateFrom(rotated, '');
    const before = rotated.hub.caPem;
    for (const file of ['ca.crt', 'ca.key']) rmSync(join(rotated.dataDir, 'pki', file));
    await rotated.restart();
    expect(rotated.hub.caPem).not.toBe(before);
    expect(await whoami(rotated, { cert, key })).toBe(401);
    const renewed = await certificateFrom(rotated, '');
    expect(await whoami(rotated, { cert: renewed, key })).toMatchObject({ username: 'mallory' });
    expect((await authorities(rotated, ''))['client-ca-file']).toBe(rotated.hub.caPem);
    await rotated.stop();
  });

  it('keeps every authority over a restart, and over a backup', async () => {
    for (const at of CLUSTERS) await certificateBy(at);
    const directory = mkdtempSync(join(tmpdir(), 'berth-authorities-'));
    const file = join(directory, 'hub.backup');
    await backupData(hub.dataDir, file, Date.now());
    await restoreData(file, join(directory, 'data'), Date.now());
    const restored = await startTestHub({ dataDir: join(directory, 'data'), members: ['east', 'west'] });
    await hub.restart();
    for (const at of CLUSTERS)
      for (const one of [hub, restored])
        expect(await whoami(one, { cert: await certificateBy(at), key }, at)).toMatchObject({
          username: 'mallory',
        });
    await restored.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(['', '{}', '{"version":1,"members":{"east":{}}}', 'null'])(
    'with a broken file of authorities is refused, not given new ones: %j',
    async (content) => {
      const broken = await startTestHub({ members: ['east'] });
      const path = join(broken.dataDir, 'pki', 'members.json');
      const good = readFileSync(path, 'utf8');
      writeFileSync(path, content);
      await expect(broken.restart()).rejects.toThrow('is not a file of member authorities');
      expect(readFileSync(path, 'utf8')).toBe(content);
      writeFileSync(path, good);
      await broken.restart();
      await broken.stop();
    },
  );
});
