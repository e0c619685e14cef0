import https from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG as log } from '@berth/runtime/logger';
import { startTunnelAgent } from '@berth/tunnel/agent/tunnel-agent';
import { startTunnelServer } from '@berth/tunnel/server/tunnel-server';
import { onTestFinished } from 'vitest';
import { ClusterEnd } from '../src/agent/cluster-end.ts';
import type { TokenUser } from '@berth/kube/review-token';
import type { ExposedService } from '../src/rules/exposed-services.ts';
import { Callers } from '../src/server/ask-hub.ts';
import { startUserServer } from '../src/server/user-server.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
export const authority = createAuthority('test', Date.now());
const signer = new CertificateAuthority(authority);

async function material(name: string) {
  const issue = name === '' ? signer.issueServing(['127.0.0.1'], Date.now(), 86_400_000) : undefined;
  const pair = await (issue ??
    signer.issueClient({ commonName: name, organizations: [] }, Date.now(), 86_400_000));
  return { ca: authority.certPem, cert: pair.certPem, key: pair.keyPem };
}

/**
 * The user server, the tunnel and the cluster's end before the API server of a kubeconfig.
 * @param users by their token, or who knows them
 */
export async function openPath(
  config: KubeConfig,
  users: Readonly<Record<string, TokenUser>> | Callers,
  exposed: readonly ExposedService[] = [],
) {
  const tunnel = await startTunnelServer({
    agents: { ...LOOPBACK, tls: await material(''), clusterOf: ({ subject }) => subject.replace('CN=', '') },
    ...{ clock, log },
  });
  const end = new ClusterEnd({ config, clock, log });
  const stop = new AbortController();
  const tls = await material('cluster1');
  let onChange: (servers: number) => void = () => undefined;
  const isOpen = new Promise<number>((resolve) => (onChange = resolve));
  const agent = startTunnelAgent({
    server: { host: '127.0.0.1', port: Number(tunnel.agentAddress.split(':')[1]) },
    ...{ tls: () => tls, hosts: [], resolve: () => (channel: Duplex) => end.serve(channel) },
    ...{ clock, random: Math.random, log, signal: stop.signal, onChange },
  });
  const server = await startUserServer({
    ...{ ...LOOPBACK, tls: await material(''), tunnel, log },
    callers: users instanceof Callers ? users : { identify: async (token) => users[token] },
    clusters: { problemWith: async () => undefined },
    services: { list: async () => exposed },
  });
  await isOpen;
  const stopAgent = async (): Promise<void> => {
    stop.abort();
    await agent.ended;
  };
  const close = async (): Promise<void> => {
    await stopAgent();
    await Promise.all([server.close(), tunnel.close()]);
    end.close();
  };
  return { url: server.url, port: Number(server.url.split(':')[2]), tunnel, stopAgent, close };
}

/** The same before an API server of the test. */
export async function openPathTo(
  serve: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
  exposed?: readonly ExposedService[],
) {
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
  const server = `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const config = new KubeConfig({
    clusters: [{ name: 'c', server, caData, skipTLSVerify: false }],
    users: [{ name: 'u', token: 'token-of-the-agent' }],
    contexts: [{ name: 'c', cluster: 'c', user: 'u' }],
    currentContext: 'c',
  });
  const path = await openPath(config, { alice: { username: 'alice', groups: ['dev', 'ops'] } }, exposed);
  onTestFinished(async () => {
    await path.close();
    api.closeAllConnections();
    api.close();
  });
  return { ...path, asked };
}
