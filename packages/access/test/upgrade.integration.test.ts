import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { authority, openPathTo, shout } from './access-path.ts';

/** Sends text over TLS, and gives the connection. */
async function send(port: number, text: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certPem });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  socket.write(text);
  return socket;
}

async function until(socket: TLSSocket, end: string): Promise<string> {
  let text = '';
  while (!text.includes(end)) text += String((await once(socket, 'data'))[0]);
  return text;
}

it.each([
  {
    name: 'SPDY',
    headers: 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n',
  },
  {
    name: 'WebSocket',
    headers: 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n',
  },
])('passes $name on as bytes, as the user that asks', async ({ headers }) => {
  const { asked, port } = await openPathTo({ onUpgrade: shout });
  const path = '/cluster1/api/v1/namespaces/default/pods/web/exec?command=sh&stdin=true';
  const socket = await send(
    port,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\n${headers}\r\nfirst`,
  );
  expect(await until(socket, 'FIRST')).toMatch(/^HTTP\/1.1 101 /);
  socket.write('second');
  expect(await until(socket, 'SECOND')).toBe('SECOND');
  const [request] = asked;
  expect(request?.url).toBe(path.slice('/cluster1'.length));
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer token-of-the-agent',
    'impersonate-user': 'alice',
  });
  expect(request?.headersDistinct['impersonate-group']).toEqual(['dev', 'ops']);
});

it('sends no credentials of the agent with a token of the cluster', async () => {
  const { asked, port } = await openPathTo({});
  const lines = [
    'GET /cluster1/x HTTP/1.1',
    'Host: x',
    'Authorization: Bearer other',
    'Impersonate-User: root',
    'Berth-Caller: hub',
  ];
  const socket = await send(port, `${lines.join('\r\n')}\r\n\r\n`);
  expect(await until(socket, 'ADDED')).toMatch(/^HTTP\/1.1 200 /);
  expect(asked[0]?.headers).toMatchObject({ authorization: 'Bearer other', 'impersonate-user': 'root' });
  expect(asked[0]?.headers).not.toHaveProperty('berth-caller', 'hub');
});

it('answers a refused upgrade, and says since when there is no agent', async () => {
  const { port, agent } = await openPathTo({
    onUpgrade: (_request, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno'),
  });
  const upgrade =
    'GET /cluster1/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
  expect(await until(await send(port, upgrade), 'no')).toMatch(/^HTTP\/1.1 403 /);
  await agent.stop();
  const answer = await until(await send(port, upgrade), 'reason');
  expect(answer).toMatch(/^HTTP\/1.1 503 /);
  expect(answer).toContain('its agent is not connected since 20');
});
