import https from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import type { Clock } from '@berth/runtime/clock/clock';
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

export interface PathOptions {
  readonly exposed?: readonly ExposedService[];
  /** Of the user server. */
  readonly clock?: Clock;
}

/**
 * The user server, the tunnel and the cluster's end before the API server of a kubeconfig.
 * @param users by their token, or who knows them
 */
export async function openPath(
  config: KubeConfig,
  users: Readonly<Record<string, TokenUser>> | Callers,
  options: PathOptions = {},
) {
  const tunnel = await startTunnelServer({
    agents: { ...LOOPBACK, tls: await material(''), clusterOf: ({ subject }) => subject.replace('CN=', '') },
    ...{ clock, log },
  });
  const dials: string[] = [];
  const counted: typeof tunnel = {
    ...tunnel,
    dial: (target, signal) => {
      dials.push(target.cluster);
      return tunnel.dial(target, signal);
    },
  };
  const server = await startUserServer({
    ...{ ...LOOPBACK, tls: await material(''), tunnel: counted, clock: options.clock ?? clock, log },
    callers: users instanceof Callers ? users : { identify: async (token) => users[token] },
    clusters: { problemWith: async () => undefined },
    services: { list: async () => options.exposed ?? [] },
  });
  const agents: OpenedAgent[] = [];
  const openAgent = async (cluster: string, of: KubeConfig): Promise<OpenedAgent> => {
    const agent = await startAgent(tunnel.agentAddress, cluster, of);
    agents.push(agent);
    return agent;
  };
  const agent = await openAgent('cluster1', config);
  const close = async (): Promise<void> => {
    await Promise.all(agents.map((opened) => opened.stop()));
    await Promise.all([server.close(), tunnel.close()]);
  };
  const port = Number(server.url.split(':')[2]);
  return { url: server.url, port, tunnel, dials, agent, openAgent, close };
}

interface OpenedAgent {
  renew(): void;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

async function startAgent(address: string, cluster: string, config: KubeConfig): Promise<OpenedAgent> {
  const end = new ClusterEnd({ config, clock, log });
  const stop = new AbortController();
  const tls = await material(cluster);
  let onChange: (servers: number) => void = () => undefined;
  const isOpen = new Promise<number>((resolve) => (onChange = resolve));
  const agent = startTunnelAgent({
    server: { host: '127.0.0.1', port: Number(address.split(':')[1]) },
    ...{ tls: () => tls, hosts: [], resolve: () => (channel: Duplex) => end.serve(channel) },
    ...{ clock, random: Math.random, log, signal: stop.signal, onChange },
  });
  await isOpen;
  return {
    renew: () => agent.renew(),
    stop: async () => {
      stop.abort();
      await agent.ended;
      end.close();
    },
  };
}

/** Goes over to the protocol that is asked for, and says everything again aloud. */
export function shout({ headers }: IncomingMessage, socket: Duplex): void {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${headers.upgrade}\r\n\r\n`,
  );
  socket.on('data', (data: Buffer) => socket.write(data.toString().toUpperCase()));
}

interface ApiOfTest {
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Default: the first event of a watch. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** The same before an API server of the test. */
export async function openPathTo({ onUpgrade, answer }: ApiOfTest, options?: PathOptions) {
  const api = https.createServer(await material(''));
  const asked: IncomingMessage[] = [];
  if (onUpgrade !== undefined)
    api.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      asked.push(request);
      onUpgrade(request, socket, head);
    });
  api.on('request', (request, response) => {
    asked.push(request);
    if (answer !== undefined) answer(request, response);
    else response.write('{"type":"ADDED"}\n');
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  const caData = Buffer.from(authority.certPem).toString('base64');
  const server = `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const configOf = (token: string) =>
    new KubeConfig({
      clusters: [{ name: 'c', server, caData, skipTLSVerify: false }],
      users: [{ name: 'u', token }],
      contexts: [{ name: 'c', cluster: 'c', user: 'u' }],
      currentContext: 'c',
    });
  const alice = { username: 'alice', groups: ['dev', 'ops'] };
  const users = { alice, bob: { username: 'bob', groups: [] } };
  const path = await openPath(configOf('token-of-the-agent'), users, options);
  onTestFinished(async () => {
    api.closeAllConnections();
    await path.close();
    api.close();
  });
  return { ...path, asked, configOf };
}
