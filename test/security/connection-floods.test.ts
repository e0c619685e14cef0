import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { connectRaw, connectSession, metricOf, openStream, tokenOf } from './raw-client.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

let clock: FakeClock;
let hub: TestHub;
const open: { destroy(): void }[] = [];
beforeEach(async () => {
  clock = new FakeClock(Date.now());
  hub = await startTestHub({ clock, audit: 'off' });
});
afterEach(async () => {
  for (const one of open.splice(0)) one.destroy();
  await hub.stop();
});

async function raw() {
  const connection = await connectRaw(hub);
  open.push(connection.socket);
  return connection;
}

async function session(settings = {}): Promise<ClientHttp2Session> {
  const one = await connectSession(hub, settings);
  open.push(one);
  return one;
}

/** A TCP connection on which nobody says anything. */
async function silent(): Promise<Socket> {
  const socket = connectTcp(hub.hub.port, '127.0.0.1');
  open.push(socket);
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', () => resolve());
  });
  socket.resume();
  return socket;
}

async function many<Item>(count: number, make: () => Promise<Item>): Promise<Item[]> {
  const made: Item[] = [];
  for (let start = 0; start < count; start += 100)
    made.push(...(await Promise.all(Array.from({ length: Math.min(100, count - start) }, make))));
  return made;
}

/** On a connection of its own, so that a client that is kept out is noticed. */
async function expectServing(): Promise<void> {
  const one = await raw();
  const head = `host: localhost\r\nauthorization: Bearer ${hub.token}\r\n\r\n`;
  one.socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\n${head}`);
  await expect.poll(() => one.text()).toMatch(/^HTTP\/1\.1 200 /);
  const other = await raw();
  other.socket.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await expect.poll(() => other.text()).toMatch(/^HTTP\/1\.1 200 /);
}

describe('connections that say nothing', () => {
  it('2,500 without a TLS handshake keep nobody out, and are closed after 10 seconds', async () => {
    const sockets = await many(2_500, silent);
    await expectServing();
    expect(await metricOf(hub, 'berth_hub_unrecognised_connections')).toBeLessThanOrEqual(2_000);
    await clock.advance(11_000);
    await expect.poll(() => sockets.filter((one) => !one.destroyed).length).toBe(0);
    await expectServing();
  });

  it('300 after their TLS handshake are closed after 10 seconds as well', async () => {
    const connections = await many(150, raw);
    const sessions = await many(150, session);
    await expectServing();
    await clock.advance(11_000);
    await expect.poll(() => connections.every((one) => one.closed())).toBe(true);
    await expect.poll(() => sessions.every((one) => one.destroyed)).toBe(true);
  });

  it('500 that send their headers slowly are closed after 10 seconds', async () => {
    const connections = await many(500, raw);
    for (const { socket } of connections) socket.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\nx-a: ');
    await expectServing();
    for (let second = 0; second < 11; second += 1) {
      for (const { socket } of connections) if (!socket.destroyed) socket.write('b');
      await clock.advance(1_000);
    }
    await expect.poll(() => connections.every((one) => one.closed())).toBe(true);
    await expectServing();
  });

  it('slow headers of a second request are ended as well', async () => {
    const one = await raw();
    one.socket.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await expect.poll(() => one.text()).toContain('ok');
    one.socket.write('GET /readyz HTTP/1.1\r\nhost');
    // Node's HTTP parser sees to this one, by the clock of the machine.
    await expect.poll(() => one.closed()).toBe(true);
    expect(one.text()).toContain('HTTP/1.1 408 ');
  });
});

describe('connections that have been used', () => {
  it('are closed after two minutes without a request; those with a watch stay', async () => {
    const authorization = `Bearer ${hub.token}`;
    const idle = await session();
    const first = openStream(idle, { ':path': '/readyz' }, { end: true });
    await expect.poll(() => first.text()).toBe('ok');
    const watching = await session();
    const watch = openStream(
      watching,
      { ':path': `${CONFIG_MAPS}?watch=true`, authorization },
      { end: true },
    );
    await expect.poll(() => watch.status()).toBe(200);
    await clock.advance(125_000);
    await expect.poll(() => idle.destroyed).toBe(true);
    expect([watching.destroyed, watch.closed()]).toEqual([false, false]);
  });
});

describe('the limit for one address', () => {
  it('gives the newest a place and takes it from the oldest that nobody is known on', async () => {
    await hub.restart({ connections: { perAddress: 20 } });
    const strangers = await many(30, raw);
    await expect.poll(() => strangers.filter((one) => one.closed()).length).toBeGreaterThanOrEqual(10);
    expect(strangers.at(-1)?.closed()).toBe(false);
    await expectServing();
  });

  it('takes places from the user who has the most when users fill it', async () => {
    await hub.restart({ connections: { perAddress: 20 } });
    const token = await tokenOf(hub, 'mallory');
    const sessions = await many(20, async () => {
      const one = await session();
      const stream = openStream(one, { ':path': '/api', authorization: `Bearer ${token}` }, { end: true });
      await expect.poll(() => stream.status() ?? stream.closed()).toBeTruthy();
      return one;
    });
    await expectServing();
    expect(sessions.filter((one) => one.destroyed).length).toBeGreaterThan(0);
  });
});

/** One HTTP/2 frame (RFC 9113 section 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0, Buffer.alloc(0)),
]);

/** HTTP/2 frame by frame. */
async function connectFrames(): Promise<{
  readonly write: (bytes: Buffer) => void;
  readonly closed: () => boolean;
}> {
  const socket = connectTls({
    host: '127.0.0.1',
    port: hub.hub.port,
    ca: hub.hub.caPem,
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  });
  open.push(socket);
  const state = { closed: false };
  socket.on('error', () => undefined);
  socket.on('close', () => (state.closed = true));
  socket.resume();
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  socket.write(PREFACE);
  return { write: (bytes) => void socket.write(bytes), closed: () => state.closed };
}

describe('floods of HTTP/2 frames', () => {
  it('headers that are continued without end close the connection', async () => {
    const one = await connectFrames();
    one.write(frame(1, 0, 1, Buffer.from([0x82, 0x87, 0x84])));
    for (let index = 0; index < 2_000 && !one.closed(); index += 1) {
      one.write(frame(9, 0, 1, Buffer.from(`\x40\x03x-a\x7f\x00${'b'.repeat(127)}`, 'latin1')));
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => one.closed()).toBe(true);
    await expectServing();
  });

  it.each([
    ['pings', 6, 0, Buffer.alloc(8)],
    ['settings', 4, 0, Buffer.from([0, 3, 0, 0, 0, 100])],
    ['window updates of streams that are not there', 8, 1, Buffer.from([0, 0, 0, 1])],
  ])('%s keep nobody out', async (_what, type, stream, payload) => {
    const one = await connectFrames();
    const burst = Buffer.concat(Array.from({ length: 1_000 }, () => frame(type, 0, stream, payload)));
    for (let round = 0; round < 50 && !one.closed(); round += 1) {
      one.write(burst);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expectServing();
    await clock.advance(11_000);
    await expect.poll(() => one.closed()).toBe(true);
  });

  it('requests that are reset at once keep nobody out and leave nothing behind', async () => {
    const token = await tokenOf(hub, 'mallory');
    const one = await session();
    for (let index = 0; index < 5_000 && !one.destroyed; index += 1) {
      const { stream } = openStream(
        one,
        { ':path': '/openapi/v3', authorization: `Bearer ${token}` },
        { end: true },
      );
      stream.close(8);
      if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await expectServing();
    const executing = 'apiserver_flowcontrol_current_executing_seats{priority_level="global-default"}';
    await expect.poll(() => metricOf(hub, executing)).toBe(0);
  });
});

describe('what clients make long or invent', () => {
  it('methods of HTTP/2 do not become metrics', async () => {
    const one = await session();
    const streams = Array.from({ length: 50 }, (_, index) =>
      openStream(one, { ':method': `INVENTED${String(index)}`, ':path': '/api/v1/pods' }, { end: true }),
    );
    await expect.poll(() => streams.every((stream) => stream.status() !== undefined)).toBe(true);
    expect((await hub.call('GET', '/metrics')).text.toLowerCase()).not.toContain('invented');
  });

  it.each([
    ['a URL', { path: `/api?${'x'.repeat(20_000)}` }, 431],
    ['an Accept header', { headers: { accept: 'a/b,'.repeat(3_900) } }, 406],
    ['a user agent', { headers: { 'user-agent': 'x'.repeat(20_000) } }, 431],
  ])('%s of many kilobytes costs an answer and no more', async (_what, request, code) => {
    const { path = CONFIG_MAPS, headers } = request as { path?: string; headers?: Record<string, string> };
    expect((await hub.call('GET', path, { headers: headers ?? {} })).status).toBe(code);
    await expectServing();
  });

  it('an Accept header with thousands of entries is read only in part', async () => {
    const one = await session();
    const headers = {
      ':path': CONFIG_MAPS,
      authorization: `Bearer ${hub.token}`,
      accept: 'a/b,'.repeat(12_000),
    };
    const stream = openStream(one, headers, { end: true });
    await expect.poll(() => stream.status()).toBe(406);
  });
});
