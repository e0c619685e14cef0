import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { authorityOf } from './gateway-path.ts';

const META = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'web' } };
const POD = {
  ...META,
  spec: { containers: [{ name: 'web', image: 'web', stdin: true }] },
  status: { phase: 'Running' },
};
const RESOURCE = { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] };
const DOCUMENTS: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [RESOURCE] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1/namespaces/default/pods/web': POD,
};
const [STDIN, STDOUT, STATUS, CLOSE] = [0, 1, 3, 255];

/**
 * An API server with one pod, which answers its input in upper case: over WebSockets, in the protocol `v5.channel.k8s.io` of
 * kubectl exec and attach. Its log is never at an end.
 */
export async function startPodServer(authority: Awaited<ReturnType<typeof authorityOf>>) {
  const server = https.createServer(authority.server, ({ url = '' }, response) => {
    const [path = ''] = url.split('?');
    if (path.endsWith('/log')) return void response.write('first line\n');
    response.writeHead(path in DOCUMENTS ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(DOCUMENTS[path] ?? { kind: 'Status', code: 404 }));
  });
  server.on('upgrade', ({ headers }: IncomingMessage, socket: Duplex) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const lines = [
      ...['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'],
      `Sec-WebSocket-Accept: ${createHash('sha1').update(key).digest('base64')}`,
      'Sec-WebSocket-Protocol: v5.channel.k8s.io',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let rest = Buffer.alloc(0);
    socket.on('data', (data: Buffer) => {
      rest = Buffer.concat([rest, data]);
      for (let frame = firstFrame(rest); frame !== undefined; frame = firstFrame(rest)) {
        rest = rest.subarray(frame.size);
        const [channel, ...bytes] = frame.payload;
        if (channel === STDIN) send(socket, STDOUT, Buffer.from(bytes).toString().toUpperCase());
        if (channel !== CLOSE) continue;
        send(socket, STATUS, JSON.stringify({ metadata: {}, status: 'Success' }));
        socket.end(Buffer.from([0x88, 0x02, 0x03, 0xe8]));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The first whole frame of a client (RFC 6455, section 5.2). */
function firstFrame(bytes: Buffer): { readonly size: number; readonly payload: Buffer } | undefined {
  if (bytes.length < 6) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const head = short < 126 ? 2 : 4;
  const length = short < 126 ? short : bytes.readUInt16BE(2);
  const size = head + 4 + length;
  if (bytes.length < size) return undefined;
  const mask = bytes.subarray(head, head + 4);
  const payload = bytes.subarray(head + 4, size).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return { size, payload: Buffer.from(payload) };
}

function send(socket: Duplex, channel: number, text: string): void {
  const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
  const { length } = payload;
  const head = length < 126 ? [0x82, length] : [0x82, 126, length >> 8, length & 0xff];
  socket.write(Buffer.concat([Buffer.from(head), payload]));
}
