import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { findProgram } from '@berth/test-kit/needed-program';
import {
  REFUSED_PASSWORD,
  type RecordingProxies,
  startRecordingProxies,
} from '../../fakes/recording-proxies.ts';
import { RegistrationWorld } from './registration-world.ts';

const AVAILABLE = 'ManagedClusterConditionAvailable';
const TINYPROXY = findProgram('tinyproxy');

describe('an agent behind a forward proxy', () => {
  let world: RegistrationWorld;
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    await world.close();
    for (const close of open.splice(0).reverse()) await close();
  });

  /** @param authorities appended to those of the hub, PEM */
  async function behind(proxyUrl: string, authorities = ''): Promise<void> {
    await world.writeBootstrap((text) =>
      text.replace(/certificate-authority-data: (.*)/, (_line, data: string) => {
        const bundle = Buffer.from(Buffer.from(data, 'base64').toString() + authorities).toString('base64');
        return `certificate-authority-data: ${bundle}\n    proxy-url: ${proxyUrl}`;
      }),
    );
  }
  async function joined(): Promise<void> {
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
    await world.hub.decide('cluster1');
    await world.hub.accept('cluster1');
    await expect.poll(() => world.hub.condition('cluster1', AVAILABLE)).toBe('True');
  }
  async function recording(): Promise<{ readonly proxies: RecordingProxies; readonly caPem: string }> {
    const authority = new CertificateAuthority(createAuthority('proxy', Date.now()));
    const pair = await authority.issueServing(['127.0.0.1', 'localhost'], Date.now(), 86_400_000);
    const proxies = await startRecordingProxies(pair);
    open.push(() => proxies.close());
    return { proxies, caPem: authority.certPem };
  }

  it('reaches the hub by CONNECT alone, with the bootstrap kubeconfig and after', async () => {
    world = await RegistrationWorld.start();
    const { proxies } = await recording();
    await behind(`http://127.0.0.1:${proxies.httpPort}`);
    world.run();
    await joined();
    const target = new URL(world.hubUrl).host;
    const seen = proxies.taken();
    expect(new Set(seen.map(({ asked }) => asked))).toEqual(new Set([`CONNECT ${target}`]));
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(readFileSync(join(world.folder(), 'kubeconfig'), 'utf8')).toContain(
      `http://127.0.0.1:${proxies.httpPort}`,
    );
  });

  it('trusts a proxy over TLS by the authority beside that of the hub, and says who it is', async () => {
    world = await RegistrationWorld.start();
    const { proxies, caPem } = await recording();
    await behind(`https://edge:p%40ss@127.0.0.1:${proxies.httpsPort}`, caPem);
    world.run();
    await joined();
    const seen = proxies.taken();
    expect(new Set(seen.map(({ proxy }) => proxy))).toEqual(new Set(['https']));
    expect(new Set(seen.map(({ login }) => login))).toEqual(new Set(['edge:p@ss']));
  });

  it.each([
    { name: 'a proxy over TLS whose authority is not trusted', withCa: false, login: '' },
    { name: 'a proxy that refuses the password', withCa: true, login: `edge:${REFUSED_PASSWORD}@` },
  ])(
    'does not reach the hub through $name, and keeps the password out of the log',
    async ({ withCa, login }) => {
      world = await RegistrationWorld.start();
      const { proxies, caPem } = await recording();
      await behind(`https://${login}127.0.0.1:${proxies.httpsPort}`, withCa ? caPem : '');
      const agent = world.run();
      const text = () => agent.log.entries.map(({ fields }) => JSON.stringify(fields, errorFields)).join();
      await expect.poll(text).toContain(`proxy https://127.0.0.1:${proxies.httpsPort}`);
      expect(text()).not.toContain(REFUSED_PASSWORD);
      expect(await world.hub.requests('cluster1')).toEqual([]);
    },
  );

  it('gives a proxy that leads to another server nothing', async () => {
    world = await RegistrationWorld.start();
    const impostor = await RegistrationWorld.start();
    open.push(() => impostor.close());
    const liar = http.createServer();
    liar.on('connect', (_request, client: net.Socket) => {
      const other = net.connect(Number(new URL(impostor.hubUrl).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(other).pipe(client);
      });
      for (const socket of [client, other])
        socket.on('error', () => [client, other].forEach((one) => one.destroy()));
    });
    liar.listen(0, '127.0.0.1');
    await once(liar, 'listening');
    open.push(
      () => liar.closeAllConnections(),
      () => liar.close(),
    );
    await behind(`http://127.0.0.1:${(liar.address() as AddressInfo).port}`);
    const agent = world.run();
    const text = () => agent.log.entries.map(({ fields }) => JSON.stringify(fields, errorFields)).join();
    await expect.poll(text).toMatch(/certificate/);
    expect(await impostor.hub.requests('cluster1')).toEqual([]);
    expect(await impostor.hub.cluster('cluster1')).toBeUndefined();
  });

  /** Before a proxy that speaks no TLS itself. */
  async function tlsInFrontOf(port: number): Promise<{ readonly port: number; readonly caPem: string }> {
    const authority = new CertificateAuthority(createAuthority('proxy', Date.now()));
    const { certPem, keyPem } = await authority.issueServing(['127.0.0.1'], Date.now(), 86_400_000);
    const front = tls.createServer({ cert: certPem, key: keyPem }, (client) => {
      const proxy = net.connect(port, '127.0.0.1', () => client.pipe(proxy).pipe(client));
      for (const socket of [client, proxy]) {
        socket.on('error', () => undefined);
        socket.on('close', () => [client, proxy].forEach((one) => one.destroy()));
      }
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    open.push(() => front.close());
    return { port: (front.address() as AddressInfo).port, caPem: authority.certPem };
  }

  it.skipIf(TINYPROXY === undefined).each(['http', 'https'])(
    'goes on when a real proxy dies and comes back: %s',
    async (protocol) => {
      world = await RegistrationWorld.start();
      const port = await freePort();
      const config = join(world.dir, 'tinyproxy.conf');
      writeFileSync(
        config,
        `Port ${port}\nListen 127.0.0.1\nTimeout 600\nBasicAuth edge secret\nAllow 127.0.0.1\n`,
      );
      const start = async (): Promise<() => Promise<void>> => {
        const proxy = spawn(TINYPROXY ?? '', ['-d', '-c', config], { stdio: 'ignore' });
        await expect.poll(() => isOpen(port)).toBe(true);
        return async () => {
          const ended = once(proxy, 'exit');
          proxy.kill('SIGKILL');
          await ended;
        };
      };
      let kill = await start();
      const front = protocol === 'https' ? await tlsInFrontOf(port) : { port, caPem: '' };
      await behind(`${protocol}://edge:secret@127.0.0.1:${front.port}`, front.caPem);
      world.run();
      await joined();
      await kill();
      const lease = await world.hub.lease('cluster1');
      kill = await start();
      open.push(() => kill());
      // A short lease, so that the agent need not wait for a minute.
      await world.hub.accept('cluster1', 1);
      await expect.poll(() => world.hub.lease('cluster1')).not.toBe(lease);
    },
  );
});

const errorFields = (_key: string, value: unknown): unknown =>
  value instanceof Error ? value.message : value;

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
