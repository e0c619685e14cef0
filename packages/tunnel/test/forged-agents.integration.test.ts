import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { authority, NEVER, openServer, portOf, TestAuthority } from './tunnel-harness.ts';

/** Calls as an agent with a certificate and headers, and gives the answer. The call stays open until the end of the test. */
async function callAsAgent(
  address: string,
  tls: { readonly ca: string; readonly cert?: string; readonly key?: string },
  headers: Readonly<Record<string, string>>,
  path = '/AgentService/Connect',
): Promise<IncomingHttpHeaders> {
  const session = http2.connect(`https://127.0.0.1:${portOf(address)}`, tls);
  onTestFinished(() => session.destroy());
  session.on('error', () => undefined);
  const call = session.request(
    { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers },
    { endStream: false },
  );
  const [answer] = (await once(call, 'response')) as [IncomingHttpHeaders];
  return answer;
}

const dial = (server: Awaited<ReturnType<typeof openServer>>, cluster: string) =>
  server.dial({ cluster, address: `${cluster}:443` }, NEVER);

describe('an agent that says it serves another cluster', () => {
  it.each([
    { name: 'host', headers: { agentidentifiers: 'host=cluster2' } },
    { name: 'several hosts', headers: { agentidentifiers: 'host=cluster1&host=cluster2&host=cluster2.svc' } },
    { name: 'default route', headers: { agentidentifiers: 'default-route=true' } },
    { name: 'uid', headers: { agentidentifiers: 'uid=cluster2' } },
    { name: 'ipv4', headers: { agentidentifiers: 'ipv4=10.0.0.2' } },
    { name: 'ipv6', headers: { agentidentifiers: 'ipv6=::1' } },
    { name: 'cidr', headers: { agentidentifiers: 'cidr=0.0.0.0/0' } },
    { name: 'an encoded host', headers: { agentidentifiers: 'host=%63luster2' } },
    { name: 'an agent id', headers: { agentid: 'cluster2' } },
    { name: 'a cluster header', headers: { cluster: 'cluster2', 'x-forwarded-for': 'cluster2' } },
    { name: 'an authority', headers: { ':authority': 'cluster2' } },
    { name: 'a token', headers: { authorization: 'Bearer cluster2' } },
  ])('gets no connection to it: $name', async ({ headers }) => {
    const server = await openServer();
    await callAsAgent(server.agentAddress, await authority.client('agent:cluster1'), headers);
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
    expect(server.clusters()).toEqual(['cluster1']);
    await expect(dial(server, 'cluster2')).rejects.toMatchObject({ code: 'tunnel.no-agent' });
  });
});

describe('a certificate that names no cluster', () => {
  it.each([
    { name: 'a dialer', commonName: 'dialer' },
    { name: 'an empty cluster', commonName: 'agent:' },
    { name: 'a cluster as a group', commonName: 'x', organizations: ['agent:cluster1'] },
  ])('is refused: $name', async ({ commonName, organizations }) => {
    const server = await openServer();
    const tls = await authority.client(commonName, organizations);
    const answer = await callAsAgent(server.agentAddress, tls, { agentidentifiers: 'host=cluster1' });
    expect(answer['grpc-status']).toBe('7');
    expect(server.clusters()).toEqual([]);
  });

  it('is refused by TLS when another authority has signed it, or when there is none', async () => {
    const server = await openServer();
    const other = await new TestAuthority().client('agent:cluster1');
    for (const tls of [{ ...other, ca: authority.pair.certPem }, { ca: authority.pair.certPem }]) {
      const socket = connect({
        host: '127.0.0.1',
        port: portOf(server.agentAddress),
        ALPNProtocols: ['h2'],
        ...tls,
      });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      const frames: Buffer[] = [];
      socket.on('data', (frame: Buffer) => frames.push(frame));
      await new Promise((closed) => socket.once('close', closed));
      expect(frames).toEqual([]);
    }
    expect(server.clusters()).toEqual([]);
  });

  it('is refused on the other port', async () => {
    const server = await openServer();
    const agent = await authority.client('agent:cluster1');
    const dialer = await authority.client('dialer');
    expect((await callAsAgent(server.dialerAddress, agent, {}))['grpc-status']).toBe('12');
    expect((await callAsAgent(server.agentAddress, dialer, {}, '/ProxyService/Proxy'))['grpc-status']).toBe(
      '12',
    );
  });
});

describe('what an agent sends that is no packet', () => {
  it.each([
    { name: 'no protobuf', bytes: [0, 0, 0, 0, 2, 0xff, 0xff] },
    { name: 'a message of four gigabytes', bytes: [0, 0xff, 0xff, 0xff, 0xff, 1] },
    { name: 'a compressed message', bytes: [1, 0, 0, 0, 1, 0] },
  ])('ends its own call: $name', async ({ bytes }) => {
    const server = await openServer();
    const session = http2.connect(
      `https://127.0.0.1:${portOf(server.agentAddress)}`,
      await authority.client('agent:cluster1'),
    );
    onTestFinished(() => session.destroy());
    await callAsAgent(server.agentAddress, await authority.client('agent:cluster2'), {});
    const call = session.request(
      { ':method': 'POST', ':path': '/AgentService/Connect' },
      { endStream: false },
    );
    call.on('error', () => undefined);
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
    call.write(Buffer.from(bytes));
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(0);
    expect(server.stateOf('cluster2').agents).toBe(1);
  });
});
