import { once } from 'node:events';
import http2 from 'node:http2';
import { request } from 'node:https';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TunnelLink } from '../src/link/tunnel-link.ts';
import { PacketStream } from '../src/wire/packet-stream.ts';
import {
  authority,
  clusterOf,
  NEVER,
  openAgent,
  openBalancer,
  openServer,
  openTarget,
  portOf,
  textUntilEnd,
} from './tunnel-harness.ts';

const MIB = 1024 * 1024;

async function opened(target: (socket: Socket) => void) {
  const port = await openTarget(target);
  const server = await openServer();
  const agent = await openAgent(server.agentAddress, 'cluster1');
  await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
  const dial = () => server.dial({ cluster: 'cluster1', address: `cluster1:${port}` }, NEVER);
  return { port, server, agent, dial };
}

describe('a connection in the tunnel', () => {
  it('carries bytes in both directions, and the end of each direction', async () => {
    const { dial, server } = await opened((socket) => {
      void textUntilEnd(socket).then((text) => socket.end(text.toUpperCase()));
    });
    const channel = await dial();
    channel.write('hello ');
    channel.end('world');
    expect(await textUntilEnd(channel)).toBe('HELLO WORLD');
    await expect.poll(() => server.stateOf('cluster1').connections).toBe(0);
  });

  it('carries more than its windows, without a change', async () => {
    const { dial } = await opened((socket) => socket.pipe(socket));
    const channel = await dial();
    const sent = Buffer.alloc(24 * MIB, 'abcdefghijklmno');
    channel.end(sent);
    const parts: Buffer[] = [];
    for await (const part of channel) parts.push(part as Buffer);
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
  });

  it('stops a sender whose reader is slow, and nobody else', async () => {
    let sent = 0;
    const { dial } = await opened((socket) => {
      socket.once('data', (first) => {
        if (first.toString() === 'echo') {
          socket.end('echo');
          return;
        }
        const more = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(MIB))) sent += MIB;
          sent += MIB;
        };
        socket.on('drain', more);
        more();
      });
    });
    const slow = await dial();
    slow.write('flood');
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = before === sent && sent > 0;
          before = sent;
          return isStill;
        },
        { interval: 500 },
      )
      .toBe(true);
    // The window, the buffers of two sockets, and nothing that grows.
    expect(sent).toBeLessThan(64 * MIB);
    const other = await dial();
    other.write('echo');
    expect(await textUntilEnd(other)).toBe('echo');
    slow.destroy();
  });

  it('ends at both ends when either end fails', async () => {
    const sockets: Socket[] = [];
    const { dial, agent } = await opened((socket) => sockets.push(socket.resume()));
    const first = await dial();
    await expect.poll(() => sockets.length).toBe(1);
    first.destroy();
    await once(sockets[0] as Socket, 'end');
    const second = await dial();
    await expect.poll(() => sockets.length).toBe(2);
    second.resume();
    sockets[1]?.resetAndDestroy();
    await once(second, 'close');
    const third = await dial();
    third.resume();
    await expect.poll(() => sockets.length).toBe(3);
    const ended = once(third, 'close');
    const stopped = agent.stop();
    sockets[2]?.resetAndDestroy();
    await Promise.all([ended, stopped]);
  });

  it('says why the agent could not connect', async () => {
    const { server } = await opened(() => undefined);
    const agent = await openAgent(server.agentAddress, 'cluster2', {
      resolve: (target) => (target === 'cluster2:1' ? { host: '127.0.0.1', port: 1 } : undefined),
    });
    await expect.poll(() => server.stateOf('cluster2').agents).toBe(1);
    const dial = (address: string): Promise<Duplex> => server.dial({ cluster: 'cluster2', address }, NEVER);
    await expect(dial('cluster2:1')).rejects.toThrow('ECONNREFUSED');
    await expect(dial('elsewhere:443')).rejects.toThrow('this agent may not connect to it');
    await agent.stop();
  });
});

it('carries more than its buffers for an agent without windows, as fast as the reader reads', async () => {
  const port = await openTarget((socket) => socket.end(Buffer.alloc(16 * MIB, 'x')));
  const server = await openServer();
  const session = http2.connect(
    `https://127.0.0.1:${portOf(server.agentAddress)}`,
    await authority.client('agent:old'),
  );
  onTestFinished(() => session.destroy());
  const path = { ':method': 'POST', ':path': '/AgentService/Connect' };
  const stream = session.request({ ...path, 'content-type': 'application/grpc' }, { endStream: false });
  const target = async (): Promise<Duplex> => net.connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  new TunnelLink({ stream, hasWindows: false, connect: target, onClosed: () => undefined });
  await expect.poll(() => server.stateOf('old').agents).toBe(1);
  const channel = await server.dial({ cluster: 'old', address: 'old:443' }, NEVER);
  let [size, most] = [0, 0];
  for await (const part of channel) {
    size += (part as Buffer).length;
    most = Math.max(most, channel.readableLength);
  }
  expect(size).toBe(16 * MIB);
  expect(most).toBeLessThan(8 * MIB);
});

describe('agents of a cluster', () => {
  it('are missed at once, with the time since when', async () => {
    const { server, agent, dial } = await opened((socket) => socket.end('here'));
    const other = server.dial({ cluster: 'cluster9', address: 'cluster9:443' }, NEVER);
    await expect(other).rejects.toThrow(
      /tunnel of cluster cluster9: no agent has connected since this server started at 20/,
    );
    await agent.stop();
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(0);
    await expect(dial()).rejects.toThrow(/tunnel of cluster cluster1: its agent is not connected since 20/);
  });

  it('finish what they carry before they end, and take nothing new', async () => {
    let answer: (() => void) | undefined;
    const { server, agent, dial } = await opened((socket) => {
      answer = () => socket.end('late answer');
    });
    const channel = await dial();
    const text = textUntilEnd(channel);
    const stopped = agent.stop();
    await expect.poll(() => dial().then(() => 'connected', String)).toContain('is about to end');
    answer?.();
    channel.end();
    expect(await text).toBe('late answer');
    await stopped;
    expect(server.stateOf('cluster1').connections).toBe(0);
  });

  it('renew their certificate without a break', async () => {
    const { server, agent, dial } = await opened((socket) => socket.pipe(socket));
    const former = await dial();
    agent.renew();
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(2);
    const later = await dial();
    later.end('later');
    expect(await textUntilEnd(later)).toBe('later');
    former.end('former');
    expect(await textUntilEnd(former)).toBe('former');
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
  });

  it('have the present certificate, also after a renewal while they connect', async () => {
    const server = await openServer();
    const material = await authority.client('agent:cluster1');
    let read = 0;
    const tls = () => ((read += 1), material);
    const agent = await openAgent(server.agentAddress, 'cluster1', { tls });
    agent.renew();
    await expect.poll(() => read).toBe(2);
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
  });

  it('are asked one after the other, if one ends before it has connected', async () => {
    const { server, dial } = await opened((socket) => socket.end('here'));
    const session = http2.connect(
      `https://127.0.0.1:${portOf(server.agentAddress)}`,
      await authority.client('agent:cluster1'),
    );
    onTestFinished(() => session.destroy());
    const path = { ':method': 'POST', ':path': '/AgentService/Connect' };
    const stream = session.request({ ...path, 'content-type': 'application/grpc' }, { endStream: false });
    const asked = new Promise<void>((resolve) => {
      const connect = (): Promise<Duplex> => (resolve(), new Promise(() => undefined));
      new TunnelLink({ stream, hasWindows: false, connect, onClosed: () => undefined });
    });
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(2);
    const dialed = dial();
    await asked;
    session.destroy();
    const channel = await dialed;
    channel.end();
    expect(await textUntilEnd(channel)).toBe('here');
  });

  it('may go once they have sent everything, which is read later', async () => {
    const server = await openServer();
    const tls = await authority.client('agent:cluster1');
    const session = http2.connect(`https://127.0.0.1:${portOf(server.agentAddress)}`, tls);
    onTestFinished(() => session.destroy());
    const path = { ':method': 'POST', ':path': '/AgentService/Connect' };
    const stream = session.request({ ...path, 'content-type': 'application/grpc' }, { endStream: false });
    const packets = new PacketStream(stream, {
      packet: (packet) => {
        if (packet.type !== 'dial') return;
        packets.send({ type: 'dialed', random: packet.random, connectId: 1n, error: '' });
        packets.send({ type: 'data', connectId: 1n, data: Buffer.from('here') });
        packets.send({ type: 'closed', connectId: 1n, error: '' });
        packets.end();
      },
      closed: () => undefined,
    });
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
    const channel = await server.dial({ cluster: 'cluster1', address: 'cluster1:443' }, NEVER);
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(0);
    expect(channel.destroyed).toBe(false);
    expect(await textUntilEnd(channel)).toBe('here');
  });

  it('are connected to each of several servers behind one address, also while they renew', async () => {
    const port = await openTarget((socket) => socket.end('here'));
    const servers = [await openServer({ servers: 2 }), await openServer({ servers: 2 })];
    const ports = servers.map(({ agentAddress }) => portOf(agentAddress));
    const agent = await openAgent(`127.0.0.1:${await openBalancer(ports)}`, 'cluster1');
    const agents = () => servers.map((server) => server.stateOf('cluster1').agents);
    const ask = async () =>
      Promise.all(
        servers.map(async (server) => {
          const channel = await server.dial({ cluster: 'cluster1', address: `cluster1:${port}` }, NEVER);
          channel.end();
          return textUntilEnd(channel);
        }),
      );
    await expect.poll(agents).toEqual([1, 1]);
    const since = servers.map((server) => server.stateOf('cluster1').sinceMs);
    agent.renew();
    const isRenewed = (): boolean =>
      servers.every((server, at) => server.stateOf('cluster1').sinceMs !== since[at]);
    while (!isRenewed() || agents().some((count) => count !== 1))
      expect(await ask()).toEqual(['here', 'here']);
    await servers[0]?.close();
    const last = await servers[1]?.dial({ cluster: 'cluster1', address: `cluster1:${port}` }, NEVER);
    last?.destroy();
    await expect.poll(agents).toEqual([0, 1]);
  });

  it('are closed when their certificate ends', async () => {
    const server = await openServer();
    const tls = await authority.client('agent:cluster1', [], 3_000);
    await openAgent(server.agentAddress, 'cluster1', { tls: () => tls });
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(1);
    await expect.poll(() => server.stateOf('cluster1').agents).toBe(0);
  });

  it('come back after the server was gone', async () => {
    const port = await openTarget((socket) => socket.end('here'));
    const first = await openServer();
    const address = first.agentAddress;
    await openAgent(address, 'cluster1');
    await expect.poll(() => first.stateOf('cluster1').agents).toBe(1);
    await first.close();
    const { agents } = await agentsAt(portOf(address));
    const second = await openServer({ agents });
    await expect.poll(() => second.stateOf('cluster1').agents).toBe(1);
    const channel = await second.dial({ cluster: 'cluster1', address: `cluster1:${port}` }, NEVER);
    expect(await textUntilEnd(channel)).toBe('here');
  });
});

async function agentsAt(port: number) {
  return { agents: { host: '127.0.0.1', port, tls: await authority.server(), clusterOf } };
}

describe('HTTP CONNECT', () => {
  /** The answer to CONNECT, and the connection. */
  async function connect(address: string, target: string, name: string) {
    const tls = await authority.client(name);
    const call = request({
      host: '127.0.0.1',
      port: portOf(address),
      method: 'CONNECT',
      path: target,
      ...tls,
    });
    call.end();
    const [response, socket, head] = (await once(call, 'connect')) as [
      { statusCode: number },
      Duplex,
      Buffer,
    ];
    if (head.length > 0) socket.unshift(head);
    return { status: response.statusCode, socket };
  }

  it('connects a dialer to a cluster', async () => {
    const { server, port } = await opened((socket) => socket.pipe(socket));
    const { status, socket } = await connect(server.dialerAddress, `cluster1:${port}`, 'dialer');
    expect(status).toBe(200);
    socket.write('through');
    expect(String((await once(socket, 'data'))[0])).toBe('through');
    socket.destroy();
    await expect.poll(() => server.stateOf('cluster1').connections).toBe(0);
  });

  it.each([
    { name: 'no agent', target: 'cluster9:443', dialer: 'dialer', want: [503, 'no agent has connected'] },
    { name: 'nothing listens', target: 'cluster1:1', dialer: 'dialer', want: [502, 'ECONNREFUSED'] },
    {
      name: 'an agent as the dialer',
      target: 'cluster1:443',
      dialer: 'agent:cluster1',
      want: [403, 'may not'],
    },
  ])('says why not: $name', async ({ target, dialer, want: [code, text] }) => {
    const { server } = await opened(() => undefined);
    const { status, socket } = await connect(server.dialerAddress, target, dialer);
    expect(status).toBe(code);
    expect(await textUntilEnd(socket)).toContain(text);
  });
});
