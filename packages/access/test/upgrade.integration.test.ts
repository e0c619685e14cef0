import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG as log } from '@berth/runtime/logger';
import { startTunnelAgent } from '@berth/tunnel/agent/tunnel-agent';
import { startTunnelServer } from '@berth/tunnel/server/tunnel-server';
import { expect, it, onTestFinished } from 'vitest';
import { ClusterEnd } from '../src/agent/cluster-end.ts';
import { startUserServer } from '../src/server/user-server.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const authority = createAuthority('test', Date.now());
const signer = new CertificateAuthority(authority);

async function material(name: string) {
  const issue = name === '' ? signer.issueServing(['127.0.0.1'], Date.now(), 86_400_000) : undefined;
  const pair = await (issue ??
    signer.issueClient({ commonName: name, organizations: [] }, Date.now(), 86_400_000));
  return { ca: authority.certPem, cert: pair.certPem, key: pair.keyPem };
}

/** The user server, the tunnel and the cluster's end before an API server of the test. */
async function opened(serve: (request: IncomingMessage, socket: Duplex, head: Buffer) => void) {
  const api = https.createServer(await material(''));
  const asked: IncomingMessage[] = [];
  api.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    asked.push(request);
    serve(request, socket, head);
  });
  api.on('request', (request, response) => {
    asked.push(request);
    response.write('{"type":"ADDED"}\n');
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  const caData = Buffer.from(authority.certPem).toString('base64');
  const config = new KubeConfig({
    clusters: [
      {
        name: 'c',
        server: `https://127.0.0.1:${(api.address() as AddressInfo).port}`,
        caData,
        skipTLSVerify: false,
      },
    ],
    users: [{ name: 'u', token: 'token-of-the-agent' }],
    contexts: [{ name: 'c', cluster: 'c', user: 'u' }],
    currentContext: 'c',
  });
  const tunnel = await startTunnelServer({
    agents: { ...LOOPBACK, tls: await material(''), clusterOf: ({ subject }) => subject.replace('CN=', '') },
    ...{ clock, log },
  });
  const end = new ClusterEnd({ config, clock, log });
  const stop = new AbortController();
  const tls = await material('cluster1');
  const agent = startTunnelAgent({
    server: { host: '127.0.0.1', port: Number(tunnel.agentAddress.split(':')[1]) },
    ...{ tls: () => tls, hosts: [], resolve: () => (channel: Duplex) => end.serve(channel) },
    ...{ clock, random: Math.random, log, signal: stop.signal },
  });
  const users = await startUserServer({
    ...{ ...LOOPBACK, tls: await material(''), tunnel, log },
    callers: {
      identify: async (token) =>
        token === 'alice' ? { username: 'alice', groups: ['dev', 'ops'] } : undefined,
    },
    clusters: { problemWith: async () => undefined },
  });
  await expect.poll(() => tunnel.stateOf('cluster1').agents).toBe(1);
  onTestFinished(async () => {
    stop.abort();
    await agent.ended;
    await Promise.all([users.close(), tunnel.close()]);
    end.close();
    api.closeAllConnections();
    api.close();
  });
  return { users, asked, stop, agent, port: Number(users.url.split(':')[2]) };
}

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
  const { asked, port } = await opened((request, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`,
    );
    socket.on('data', (data: Buffer) => socket.write(data.toString().toUpperCase()));
  });
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
  const { asked, port } = await opened(
    (_request, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'),
  );
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
  const { port, stop, agent } = await opened(
    (_request, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno'),
  );
  const upgrade =
    'GET /cluster1/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
  expect(await until(await send(port, upgrade), 'no')).toMatch(/^HTTP\/1.1 403 /);
  stop.abort();
  await agent.ended;
  const answer = await until(await send(port, upgrade), 'reason');
  expect(answer).toMatch(/^HTTP\/1.1 503 /);
  expect(answer).toContain('its agent is not connected since 20');
});
