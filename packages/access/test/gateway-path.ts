import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { onTestFinished } from 'vitest';
import type { FrontProxy } from '../src/gateway/front-proxy.ts';
import { startGatewayServer } from '../src/gateway/gateway-server.ts';
import { type Gateway, gatewayOfSecret } from '../src/rules/cluster-gateway.ts';

const DAY_MS = 86_400_000;

/** An authority of the test, and certificates of it. */
export async function authorityOf(name: string) {
  const pair = createAuthority(name, Date.now());
  const signer = new CertificateAuthority(pair);
  const server = await signer.issueServing(['127.0.0.1', 'localhost'], Date.now(), DAY_MS);
  return {
    ...{ caPem: pair.certPem, server: { cert: server.certPem, key: server.keyPem } },
    client: async (commonName: string) => {
      const issued = await signer.issueClient({ commonName, organizations: [] }, Date.now(), DAY_MS);
      return { cert: issued.certPem, key: issued.keyPem };
    },
  };
}

/** An API server of a cluster, which keeps what it was asked. */
export async function startCluster(authority: Awaited<ReturnType<typeof authorityOf>>) {
  const asked: { readonly request: IncomingMessage; readonly client: string | undefined }[] = [];
  const note = (request: IncomingMessage): void => {
    const certificate = (request.socket as TLSSocket).getPeerX509Certificate();
    asked.push({ request, client: certificate?.subject });
  };
  const server = https.createServer({
    ...{ ...authority.server, ca: authority.caPem, requestCert: true, rejectUnauthorized: false },
  });
  server.on('request', (request, response) => {
    note(request);
    if (request.url?.startsWith('/healthz')) response.end('ok');
    else if (request.url === '/forged') request.socket.end('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n');
    else response.writeHead(418, { 'x-of-cluster': 'yes' }).end(`${request.method} ${request.url}`);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    note(request);
    const { upgrade } = request.headers;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`);
    const answer = (data: Buffer): unknown => socket.write(data.toString().toUpperCase());
    if (head.length > 0) answer(head);
    socket.on('data', answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, address: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export function gatewaySecret(
  name: string,
  data: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = { 'cluster-credential-type': 'ServiceAccountToken' },
): KubeObject {
  const prefixed = Object.entries(labels).map(([key, value]) => [`cluster.core.oam.dev/${key}`, value]);
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', data: Object.fromEntries(encoded) },
    metadata: { namespace: 'credentials', name, labels: Object.fromEntries(prefixed) },
  };
}

/** The server of ClusterGateways with two clusters behind it, and a hub in front of it. */
export async function openGateway(
  options: {
    readonly impersonate?: boolean;
    readonly authorizeOn?: KubeApi;
    readonly secrets?: (address: string, caPem: string) => readonly KubeObject[];
  } = {},
) {
  const [ofHub, ofClusters, ofFrontProxy] = await Promise.all(
    ['hub', 'clusters', 'front-proxy-ca'].map(authorityOf),
  );
  if (!ofHub || !ofClusters || !ofFrontProxy) throw new Error('no authorities');
  const [one, two] = [await startCluster(ofClusters), await startCluster(ofClusters)];
  const token = (name: string) => `token-of-${name}`;
  const secrets = options.secrets?.(one.address, ofClusters.caPem) ?? [
    gatewaySecret('one', { endpoint: one.address, 'ca.crt': ofClusters.caPem, token: token('one') }),
    gatewaySecret('two', { endpoint: two.address, 'ca.crt': ofClusters.caPem, token: token('two') }),
  ];
  const found = new Map(secrets.map((secret) => [secret.metadata.name, gatewayOfSecret(secret, undefined)]));
  const listeners: (() => void)[] = [];
  const trust = (caPem: string): FrontProxy => ({
    ...{ caPem, allowedNames: ['front-proxy'], extraPrefixes: ['x-remote-extra-'] },
    ...{ userHeaders: ['x-remote-user'], groupHeaders: ['x-remote-group'] },
  });
  let frontProxy = trust(ofFrontProxy.caPem);
  const noted: [string, Gateway['health']][] = [];
  const log = new SilentLogger();
  const server = await startGatewayServer({
    ...{ host: '127.0.0.1', port: 0, tls: ofHub.server, log, impersonate: options.impersonate ?? false },
    authorizeOn: options.authorizeOn,
    gateways: {
      get: (name) => found.get(name),
      list: () => [...found.values()].flatMap((gateway) => (gateway.ok ? [gateway.value] : [])),
      frontProxy: () => frontProxy,
      onFrontProxy: (listener) => void listeners.push(listener),
      userServer: () => undefined,
      noteHealth: async (gateway, health) => void noted.push([gateway.name, health]),
    },
  });
  onTestFinished(() => server.close());
  const hubCertificate = await ofFrontProxy.client('front-proxy');
  const port = Number(server.address.split(':')[1]);
  const ask = async (path: string, { tls = hubCertificate, ...more }: AskOptions = {}): Promise<Answer> => {
    const { method = 'GET', body, headers = {} } = more;
    const call = https.request({
      ...{ host: '127.0.0.1', port, path, method, agent: false, ca: ofHub.caPem, ...tls },
      servername: 'localhost',
      headers: { 'x-remote-user': 'alice', ...headers },
    });
    call.end(body);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), response };
  };
  /** Sends text as it is, as the hub. */
  const send = async (text: string): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port, ca: ofHub.caPem, ...hubCertificate });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    socket.write(text);
    return socket;
  };
  const rotate = (caPem: string): void => {
    frontProxy = trust(caPem);
    for (const listener of listeners) listener();
  };
  const requests = () =>
    log.entries.filter(({ message }) => message === 'request').map(({ fields }) => fields);
  return {
    ask,
    send,
    rotate,
    requests,
    noted,
    one,
    two,
    ofFrontProxy,
    ofClusters,
    close: () => server.close(),
  };
}

interface AskOptions {
  readonly tls?: { readonly cert?: string; readonly key?: string };
  readonly method?: string;
  readonly body?: string;
  readonly headers?: OutgoingHttpHeaders;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly response: IncomingMessage;
}
