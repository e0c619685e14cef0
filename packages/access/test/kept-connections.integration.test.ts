import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { expect, it, onTestFinished, vi } from 'vitest';
import { authority, openPathTo, shout } from './access-path.ts';

const IDLE_MS = 30_000;

interface Asked {
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: https.Agent | false;
}

/** An API server behind the tunnel that says what it was asked; `/held` is answered by `release`, `/refused` before its body is read. */
async function opened() {
  const held: ServerResponse[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/refused') return void response.writeHead(413).end('too much');
    const { authorization, 'impersonate-user': user } = request.headers;
    const said = [request.method, await text(request), user, authorization].join(' ');
    if (request.url !== '/held') return void response.end(said);
    response.write('held');
    held.push(response);
  };
  const clock = new FakeClock();
  const api = { onUpgrade: shout, answer: (...of: Parameters<typeof answer>) => void answer(...of) };
  const path = await openPathTo(api, { clock });
  const ask = async (target: string, { body, headers, ...more }: Asked = {}): Promise<string> => {
    const call = https.request({
      ...{ host: '127.0.0.1', port: path.port, path: target, ca: authority.certPem, agent: false, ...more },
      headers: { authorization: 'Bearer alice', ...headers },
    });
    call.end(body);
    return text(((await once(call, 'response')) as [IncomingMessage])[0]);
  };
  const hold = (count: number): Promise<string>[] =>
    Array.from({ length: count }, () => ask('/cluster1/held'));
  const release = (): void => {
    for (const response of held.splice(0)) response.end();
  };
  const count = () => path.tunnel.stateOf('cluster1').connections;
  return { ...path, clock, ask, hold, held, release, count };
}

it('a connection carries the requests of all users, each as itself, of one cluster', async () => {
  const { ask, dials, openAgent, configOf } = await opened();
  await openAgent('cluster2', configOf('other-token'));
  const bob = { headers: { authorization: 'Bearer bob' } };
  expect(await ask('/cluster1/a')).toBe('GET  alice Bearer token-of-the-agent');
  expect(await ask('/cluster2/a')).toBe('GET  alice Bearer other-token');
  expect(await ask('/cluster1/a', bob)).toBe('GET  bob Bearer token-of-the-agent');
  expect(await ask('/cluster2/a', { method: 'POST', body: 'x' })).toBe('POST x alice Bearer other-token');
  const warned = vi.spyOn(process, 'emitWarning');
  for (let one = 0; one < 20; one += 1) await ask('/cluster1/a');
  expect(warned).not.toHaveBeenCalled();
  expect(dials).toEqual(['cluster1', 'cluster2']);
});

it.each(['GET', 'DELETE', 'OPTIONS', 'POST'])(
  'with %s, a body of unknown length is no second request in the name of somebody else',
  async (method) => {
    const { ask, asked } = await opened();
    const body = 'GET /b HTTP/1.1\r\nHost: x\r\nBerth-Caller: hub\r\nImpersonate-User: root\r\n\r\n';
    const headers = { 'transfer-encoding': 'chunked' };
    expect(await ask('/cluster1/a', { method, body, headers })).toContain(`${method} ${body} alice`);
    expect(await ask('/cluster1/c')).toContain('alice');
    expect(asked.map(({ url }) => url)).toEqual(['/a', '/c']);
  },
);

it('it ends after 30 seconds without a request, and a request at that moment is made once', async () => {
  const { ask, asked, clock, count, dials } = await opened();
  for (let one = 0; one < 3; one += 1) {
    await ask('/cluster1/a');
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(IDLE_MS - 1);
  }
  expect([count(), dials.length]).toEqual([1, 1]);
  await clock.advance(1);
  await expect.poll(count).toBe(0);
  for (let round = 0; round < 40; round += 1) {
    const made = ask('/cluster1/a', { method: 'POST', body: String(round) });
    for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
    await clock.advance(IDLE_MS);
    expect(await made).toContain(`POST ${round} alice`);
  }
  expect(asked).toHaveLength(43);
});

it.each(['stop', 'renew'] as const)('an agent that is to %s waits for no idle one', async (how) => {
  const { agent, ask, count, hold, held, release } = await opened();
  const [watch, other] = hold(2);
  await expect.poll(() => held.length).toBe(2);
  held.pop()?.end();
  await Promise.race([watch, other]);
  expect(count()).toBe(2);
  const ended = agent[how]();
  await expect.poll(count).toBe(1);
  if (how === 'renew') expect(await ask('/cluster1/a')).toContain('alice');
  release();
  expect(await Promise.all([watch, other])).toEqual(['held', 'held']);
  await ended;
  await expect.poll(count).toBe(how === 'renew' ? 1 : 0);
});

it('requests are neither lost nor made twice while the agent renews its certificate', async () => {
  const { agent, ask, asked } = await opened();
  const made: Promise<string>[] = [];
  for (let round = 0; round < 60; round += 1) {
    made.push(ask('/cluster1/a', { method: 'POST', body: `<${round}>` }));
    if (round % 12 === 6) agent.renew();
    await new Promise(setImmediate);
    if (round % 3 === 0) await made[round];
  }
  const said = await Promise.all(made);
  said.forEach((one, round) => expect(one).toContain(`POST <${round}> alice`));
  expect(asked).toHaveLength(60);
});

it('none is used after its agent has gone', async () => {
  const { agent, ask, dials, openAgent, configOf } = await opened();
  await ask('/cluster1/a');
  await agent.stop();
  expect(await ask('/cluster1/a')).toContain('its agent is not connected since');
  await openAgent('cluster1', configOf('next'));
  expect(await ask('/cluster1/a')).toContain('next');
  expect(dials).toHaveLength(3);
});

it('at most 16 are kept', async () => {
  const { count, hold, held, release } = await opened();
  const all = hold(20);
  await expect.poll(() => held.length).toBe(20);
  expect(count()).toBe(20);
  release();
  await Promise.all(all);
  await expect.poll(count).toBe(16);
});

it('an upgrade takes one for itself', async () => {
  const { ask, count, dials, port } = await opened();
  await ask('/cluster1/a');
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certPem });
  onTestFinished(() => void socket.destroy());
  const lines = ['Host: x', 'Authorization: Bearer alice', 'Connection: Upgrade', 'Upgrade: websocket'];
  socket.write(`GET /cluster1/exec HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nfirst`);
  let said = '';
  socket.on('data', (data) => (said += data));
  await expect.poll(() => said).toContain('FIRST');
  expect([count(), dials.length]).toEqual([1, 1]);
  await ask('/cluster1/a');
  expect([count(), dials.length]).toEqual([2, 2]);
  socket.destroy();
  await expect.poll(count).toBe(1);
});

it.each(['/cluster1/refused', '/cluster9/a'])(
  'a body that %s does not read holds up nobody',
  async (target) => {
    const { ask, count } = await opened();
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const body = Buffer.alloc(8 * 1024 * 1024);
    expect(await ask(target, { method: 'POST', body, agent })).toMatch(/too much|no agent has connected/);
    expect(await ask('/cluster1/a', { agent })).toContain('alice');
    expect(count()).toBe(1);
  },
);
