import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import { TlsPair } from '@berth/runtime/http/tls-pair';
import { runCli } from '../../src/app/cli/program.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../fakes/steered-clock.ts';

const DAY_MS = 86_400_000;
const LOOKS_AGAIN_MS = 5_000;

describe('TLS of berth serve --listen', () => {
  let authority: CertificateAuthority;
  let first: PemPair;
  let second: PemPair;
  let expired: PemPair;
  beforeAll(async () => {
    authority = await CertificateAuthority.load(createAuthority('test', Date.now()));
    const issue = (lifetimeMs: number) => authority.issueServing(['127.0.0.1'], Date.now(), lifetimeMs);
    [first, second, expired] = [await issue(DAY_MS), await issue(DAY_MS), await issue(-60_000)];
  });

  let dir: string;
  let clock: SteeredClock;
  let log: SilentLogger;
  let listener: HttpListener;
  let stop: () => void;
  let release: () => void;
  const files = () => ({ certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') });
  const install = ({ certPem, keyPem }: PemPair): void => {
    writeFileSync(files().certFile, certPem);
    writeFileSync(files().keyFile, keyPem, { mode: 0o600 });
  };
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-tls-'));
    clock = new SteeredClock();
    log = new SilentLogger();
    install(first);
    const pair = new TlsPair(files(), log);
    const held = new Promise<void>((resolve) => (release = resolve));
    listener = await listenHttp(
      { host: '127.0.0.1', port: 0, tls: pair.identity },
      async (request, response) => {
        response.write('begin ');
        if (request.url === '/slow') await held;
        response.end('end');
      },
    );
    stop = pair.follow(clock, (identity) => listener.renew(identity));
  });
  afterEach(async () => {
    release();
    stop();
    await listener.close();
    rmSync(dir, { recursive: true });
  });

  const port = () => Number(new URL(listener.url).port);
  const serialOf = ({ certPem }: PemPair) => new X509Certificate(certPem).serialNumber;
  const served = (over: object = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket: TLSSocket = connect(
        { host: '127.0.0.1', port: port(), ca: authority.certPem, ...over },
        () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });
  const errors = () => log.entries.filter(({ level }) => level === 'error').map(({ message }) => message);

  it('answers https and nothing in the clear', async () => {
    expect(listener.url).toMatch(/^https:/);
    expect(await text(await get('/'))).toBe('begin end');
    await expect(fetch(listener.url.replace('https', 'http'))).rejects.toThrow();
  });

  it.each(['TLSv1', 'TLSv1.1'])('a client that offers %s at most is refused', async (maxVersion) => {
    await expect(
      served({ maxVersion, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    ).rejects.toThrow();
    expect(await served({ maxVersion: 'TLSv1.2' })).toBe(serialOf(first));
  });

  it('a new pair is served without a restart, and a running request goes on', async () => {
    const agent = new Agent({ keepAlive: true });
    const slow = await get('/slow', agent);
    install(second);
    clock.skip(LOOKS_AGAIN_MS);
    await expect.poll(() => served()).toBe(serialOf(second));
    release();
    expect(await text(slow)).toBe('begin end');
    agent.destroy();
  });

  it.each<[string, () => void]>([
    ['the key of another certificate', () => writeFileSync(files().keyFile, second.keyPem)],
    ['a certificate without its key yet', () => writeFileSync(files().certFile, second.certPem)],
    ['an empty certificate', () => writeFileSync(files().certFile, '')],
    ['half a certificate', () => writeFileSync(files().certFile, second.certPem.slice(0, 200))],
    ['no key', () => rmSync(files().keyFile)],
  ])(
    'with %s the pair before is served, which is logged once; the whole new pair counts',
    async (_name, harm) => {
      harm();
      clock.skip(LOOKS_AGAIN_MS);
      await expect
        .poll(errors)
        .toContain('TLS certificate and key cannot be used, so the previous pair is served');
      const said = errors();
      clock.skip(LOOKS_AGAIN_MS);
      expect(await served()).toBe(serialOf(first));
      clock.skip(LOOKS_AGAIN_MS);
      expect(await served()).toBe(serialOf(first));
      expect(errors()).toEqual(said);
      install(second);
      clock.skip(LOOKS_AGAIN_MS);
      await expect.poll(() => served()).toBe(serialOf(second));
    },
  );

  it('connections that never finish the handshake keep nobody out', async () => {
    const idle = Array.from({ length: 600 }, () => {
      const socket = new Agent().createConnection({ host: '127.0.0.1', port: port(), ca: '' }) as TLSSocket;
      socket.on('error', () => undefined);
      return socket;
    });
    expect(await text(await get('/'))).toBe('begin end');
    for (const socket of idle) socket.destroy();
  });

  it('a key that every user may read, and a certificate that has expired, are warned of', () => {
    chmodSync(files().keyFile, 0o644);
    writeFileSync(files().certFile, expired.certPem);
    writeFileSync(files().keyFile, expired.keyPem);
    new TlsPair(files(), log);
    expect(log.entries.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'the TLS key can be read by every user of this machine',
      'the TLS certificate has expired',
    ]);
  });

  it('a pair that does not fit is an error at the start, which does not tell the key', () => {
    writeFileSync(files().keyFile, second.keyPem);
    expect(() => new TlsPair(files(), log)).toThrow(/are not a matching certificate and key/);
    rmSync(files().keyFile);
    expect(() => new TlsPair(files(), log)).toThrow(/tls\.key: cannot be read/);
    writeFileSync(files().keyFile, 'not a key');
    expect(() => new TlsPair(files(), log)).not.toThrow(/not a key/);
  });

  const get = (path: string, agent?: Agent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: port(),
        path,
        ca: authority.certPem,
        ...(agent && { agent }),
      };
      httpsRequest(options, resolve).on('error', reject).end();
    });
});

describe('a bearer token in the clear', () => {
  let fleet: ServedFleet;
  beforeAll(async () => {
    fleet = await ServedFleet.create();
  });
  afterAll(() => fleet.close());
  const WARNING = 'bearer tokens and secrets of webhooks are sent unencrypted';

  it.each<[string, string, object, boolean]>([
    ['beyond this machine', '0.0.0.0', {}, true],
    ['on loopback', '127.0.0.1', {}, false],
    ['without a token', '0.0.0.0', { tokenFile: undefined }, false],
  ])('listening %s is warned of when it is one', async (_name, host, over, warned) => {
    const log = new SilentLogger();
    await fleet.serve({ http: { ...fleet.http(), host, ...over }, log });
    expect(log.entries.some(({ level, message }) => level === 'warn' && message === WARNING)).toBe(warned);
    await fleet.stop();
  });

  it('serve answers https when it has a certificate, and the commands warn before they send a token without', async () => {
    const authority = await CertificateAuthority.load(createAuthority('test', Date.now()));
    const { certPem, keyPem } = await authority.issueServing(['127.0.0.1'], Date.now(), DAY_MS);
    const tls = { certFile: join(fleet.dataDir, 'tls.crt'), keyFile: join(fleet.dataDir, 'tls.key') };
    writeFileSync(tls.certFile, certPem);
    writeFileSync(tls.keyFile, keyPem, { mode: 0o600 });
    const log = new SilentLogger();
    const controller = await fleet.serve({ http: { ...fleet.http(), host: '0.0.0.0', tls }, log });
    expect(controller.url).toMatch(/^https:/);
    expect(log.entries.filter(({ message }) => message === WARNING)).toEqual([]);
    const { io, stderr } = makeCliIo();
    const tokenFile = join(fleet.dataDir, 'tokens');
    await runCli(['status', '--server', 'http://berth.invalid:1', '--token-file', tokenFile], io);
    expect(stderr()).toContain('warning: the token is sent unencrypted');
    await fleet.stop();
  });

  it.each([
    [['--tls-cert', 'a'], '--tls-cert: has no effect without --listen'],
    [['--listen', ':0', '--tls-cert', 'a'], '--tls-cert: needs --tls-key'],
    [['--listen', ':0', '--tls-key', 'a'], '--tls-cert: needs --tls-key'],
    [['--listen', ':0', '--protect-metrics'], '--protect-metrics: needs --token-file'],
  ])('berth serve %j is refused', async (args, message) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['serve', '--repo', '/nowhere', ...args], io)).toBe(1);
    expect(stderr()).toContain(message);
  });
});

async function text(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
