import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { MemoryPluginSource } from '../fakes/memory-plugin-source.ts';
import { BearerTokens } from '../../plugin/tokens/bearer-tokens.ts';
import { GETPARAMS_PATH, GetparamsEndpoint } from '../../plugin/getparams-endpoint.ts';
import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import { RECEIVED, webhookHandler } from '@berth/forge/webhook/webhook-handler';
import { SilentLogger } from '@berth/test-kit/silent-logger';

interface Client {
  readonly socket: Socket;
  readonly said: () => string;
  readonly closed: () => boolean;
}

const TOKEN = 'a-token-of-this-test-x';
const SECRET = 'a-secret-of-this-test';

/** The listener of `berth serve` with its endpoints, and clients that write what they like. */
describe('clients of berth serve --listen that never end', () => {
  let dir: string;
  let listener: HttpListener;
  let sockets: Socket[];
  let events: number;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-limits-'));
    writeFileSync(join(dir, 'tokens'), TOKEN);
    sockets = [];
    events = 0;
    const tokens = new BearerTokens({
      file: join(dir, 'tokens'),
      clock: { now: () => 0 },
      log: new SilentLogger(),
    });
    const source = new MemoryPluginSource();
    source.trouble = 'nothing was read';
    const endpoint = new GetparamsEndpoint({ source, tokens, clock: systemClock });
    const webhooks = webhookHandler({
      providers: { github: { secrets: [SECRET] } },
      nowMs: () => 0,
      log: new SilentLogger(),
      onEvent: () => {
        events += 1;
        return RECEIVED;
      },
    });
    const app = express().use('/webhooks', (request, response, next) => {
      webhooks(request, response).catch(next);
    });
    listener = await listenHttp({ host: '127.0.0.1', port: 0 }, async (request, response) => {
      if (request.url?.endsWith(GETPARAMS_PATH) === true) return endpoint.handle(request, response);
      app(request, response);
    });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close();
    rmSync(dir, { recursive: true });
  });

  /** Sends this and keeps the connection. */
  const open = async (text: string): Promise<Client> => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(listener.url).port) });
    sockets.push(socket);
    let said = '';
    let closed = false;
    socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')));
    socket.on('close', () => (closed = true));
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(text);
    return { socket, said: () => said, closed: () => closed };
  };
  const head = (path: string, headers: Record<string, string>): string =>
    [
      `POST ${path} HTTP/1.1`,
      'host: x',
      ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`),
      '',
      '',
    ].join('\r\n');
  const CHUNKED = { 'transfer-encoding': 'chunked' };
  const works = async (): Promise<number> =>
    (
      await fetch(`${listener.url}${GETPARAMS_PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}` },
        body: '{"input":{"parameters":{"placement":"a/b"}}}',
      })
    ).status;

  it.each([
    ['without a token', {}, '401'],
    ['with a wrong one', { authorization: 'Bearer wrong' }, '401'],
  ])(
    'a body without an end, sent %s, is answered and its connection closed',
    async (_name, headers, status) => {
      const client = await open(head(GETPARAMS_PATH, { ...headers, ...CHUNKED }));
      await expect.poll(client.said).toContain(`HTTP/1.1 ${status}`);
      await expect.poll(client.closed).toBe(true);
    },
  );

  it('a body beyond the limit is answered 413 while it arrives, and no more of it is read', async () => {
    const client = await open(head(GETPARAMS_PATH, { authorization: `Bearer ${TOKEN}`, ...CHUNKED }));
    const chunk = 'x'.repeat(70_000);
    client.socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    await expect.poll(client.said).toContain('HTTP/1.1 413');
    await expect.poll(client.closed).toBe(true);
  });

  it.each([
    ['declared', { 'content-length': '6000000' }, ''],
    ['sent', CHUNKED, `600000\r\n${'x'.repeat(0x600000)}\r\n`],
  ])('a delivery that is larger than the limit, as %s, is 413', async (_name, headers, body) => {
    const client = await open(head('/webhooks/github', headers));
    client.socket.write(body);
    await expect.poll(client.said).toContain('HTTP/1.1 413');
    await expect.poll(client.closed).toBe(true);
  });

  it('deliveries that never end hold a bounded number of bodies, and a forge still gets through', async () => {
    const clients: Client[] = [];
    for (let count = 0; count < 40; count++) clients.push(await open(head('/webhooks/github', CHUNKED)));
    await expect.poll(() => clients.filter(({ closed }) => closed()).length).toBeGreaterThanOrEqual(24);
    const body = '{"ref":"refs/heads/main","repository":{"clone_url":"https://forge.example/a.git"}}';
    const headers = {
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    };
    const answer = await fetch(`${listener.url}/webhooks/github`, { method: 'POST', headers, body });
    expect(answer.status).toBe(202);
    expect(events).toBe(1);
    expect(clients.filter(({ closed }) => !closed()).length).toBeLessThanOrEqual(16);
  });

  it.each([
    ['say nothing', ''],
    ['send their headers one by one', 'POST / HTTP/1.1\r\nhost: x\r\nx-'],
    ['are kept alive', 'GET /webhooks HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('hundreds of connections that %s keep nobody out; the oldest go', async (_name, text) => {
    const clients: Client[] = [];
    for (let count = 0; count < 700; count++) clients.push(await open(text));
    expect(await works()).toBe(503);
    await expect.poll(() => clients.filter(({ closed }) => closed()).length).toBeGreaterThanOrEqual(188);
    expect(clients[0]?.closed()).toBe(true);
    expect(clients.at(-1)?.closed()).toBe(false);
  });

  it.each([
    ['headers without an end', 'GET / HTTP/1.1\r\nhost: x\r\n', '408'],
    ['headers beyond 16 KiB', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, '431'],
    ['a body of two lengths', head('/webhooks/github', { 'content-length': '5', ...CHUNKED }), '400'],
    ['a bare line feed in a header', 'POST /webhooks/github HTTP/1.1\nhost: x\n\n', '400'],
  ])('%s are answered and closed', async (_name, text, status) => {
    const client = await open(text);
    await expect.poll(client.said).toContain(`HTTP/1.1 ${status}`);
    await expect.poll(client.closed).toBe(true);
  });

  it('a delivery whose signature is that of the body encoded again is refused', async () => {
    const body = '{ "ref": "refs/heads/main" }';
    const again = JSON.stringify(JSON.parse(body));
    const headers = {
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(again).digest('hex')}`,
    };
    const answer = await fetch(`${listener.url}/webhooks/github`, { method: 'POST', headers, body });
    expect(answer.status).toBe(401);
  });
});
