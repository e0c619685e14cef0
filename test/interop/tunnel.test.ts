import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  authority,
  NEVER,
  openAgent,
  openServer,
  portOf,
} from '../../packages/tunnel/test/tunnel-harness.ts';
import type { TunnelServer } from '@berth/tunnel/server/tunnel-server';
import { freePort } from './peers/free-port.ts';
import { hasPeers, peerProgram } from './peers/peer-programs.ts';
import { startPeer } from './peers/peer-process.ts';

const PROGRAMS = ['tunnel/proxy-server', 'tunnel/proxy-agent', 'tunnel/proxy-test-client'];
const MIB = 1024 * 1024;

describe.skipIf(!hasPeers(...PROGRAMS))('konnectivity', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-tunnel-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The certificate, its key and the authority, as files. */
  async function files(name: string, tls: { ca: string; cert: string; key: string }) {
    const [ca, cert, key] = ['ca', 'crt', 'key'].map((end) => join(folder, `${name}.${end}`)) as [
      string,
      string,
      string,
    ];
    for (const [file, text] of [
      [ca, tls.ca],
      [cert, tls.cert],
      [key, tls.key],
    ] as const)
      writeFileSync(file, text);
    return { ca, cert, key };
  }

  /** Small answers, and a large one that is longer than all windows. */
  async function website(): Promise<number> {
    const server = createServer((request, response) => {
      if (request.url === '/large') response.end(Buffer.alloc(32 * MIB, 'x'));
      else response.end('served in the cluster');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  async function ask(mode: string, proxyPort: number, path: string, port: number): Promise<string> {
    const { ca, cert, key } = await files('dialer', await authority.client('dialer'));
    const args = [
      ...[`--mode=${mode}`, '--proxy-host=127.0.0.1', `--proxy-port=${proxyPort}`, `--ca-cert=${ca}`],
      ...[
        `--client-cert=${cert}`,
        `--client-key=${key}`,
        '--request-host=localhost',
        `--request-port=${port}`,
      ],
      `--request-path=${path}`,
    ];
    const { stdout, stderr } = await promisify(execFile)(peerProgram('tunnel/proxy-test-client'), args, {
      maxBuffer: 256 * MIB,
      // It ends its connection at any signal, and the Go runtime sends itself one when it takes a thread away.
      env: { ...process.env, GODEBUG: 'asyncpreemptoff=1' },
    });
    return stdout + stderr;
  }

  it.each(['grpc', 'http-connect'])(
    'its agent and its client (%s) reach a cluster through this server',
    async (mode) => {
      const server: TunnelServer = await openServer();
      const { ca, cert, key } = await files('agent', await authority.client('agent:localhost'));
      const agent = startPeer('tunnel/proxy-agent', {
        args: [
          ...[
            '--proxy-server-host=127.0.0.1',
            `--proxy-server-port=${portOf(server.agentAddress)}`,
            `--ca-cert=${ca}`,
          ],
          ...[
            `--agent-cert=${cert}`,
            `--agent-key=${key}`,
            '--agent-identifiers=host=localhost&host=another',
          ],
          ...[
            '--health-server-host=127.0.0.1',
            `--health-server-port=${await freePort()}`,
            `--admin-server-port=${await freePort()}`,
          ],
        ],
        logFile: join(folder, 'agent.log'),
      });
      onTestFinished(() => agent.kill());
      await agent.until(async () => server.stateOf('localhost').agents === 1);
      expect(server.clusters()).toEqual(['localhost']);
      const port = await website();
      expect(await ask(mode, portOf(server.dialerAddress), 'small', port)).toContain('served in the cluster');
      expect(await ask(mode, portOf(server.dialerAddress), 'large', port)).toContain('xxxxxxxx');
      await expect.poll(() => server.stateOf('localhost').connections).toBe(0);
      const other = server.dial({ cluster: 'another', address: `localhost:${port}` }, NEVER);
      await expect(other).rejects.toMatchObject({ code: 'tunnel.no-agent' });
    },
  );

  it.each(['grpc', 'http-connect'])(
    'its server and its client (%s) reach a cluster through this agent',
    async (mode) => {
      const { ca, cert, key } = await files('server', await authority.server());
      const [serverPort, agentPort, healthPort, adminPort] = await Promise.all(
        [1, 2, 3, 4].map(() => freePort()),
      );
      const server = startPeer('tunnel/proxy-server', {
        args: [
          ...[`--mode=${mode}`, '--server-bind-address=127.0.0.1', `--server-port=${serverPort}`],
          ...['--agent-bind-address=127.0.0.1', `--agent-port=${agentPort}`, '--proxy-strategies=destHost'],
          ...['--health-bind-address=127.0.0.1', `--health-port=${healthPort}`, `--admin-port=${adminPort}`],
          ...[`--server-ca-cert=${ca}`, `--server-cert=${cert}`, `--server-key=${key}`],
          ...[`--cluster-ca-cert=${ca}`, `--cluster-cert=${cert}`, `--cluster-key=${key}`],
        ],
        logFile: join(folder, 'server.log'),
      });
      onTestFinished(() => server.kill());
      let servers = 0;
      const agent = await openAgent(`127.0.0.1:${agentPort}`, 'localhost', {
        onChange: (count) => (servers = count),
      });
      await server.until(async () => servers === 1);
      const port = await website();
      expect(await ask(mode, serverPort as number, 'small', port)).toContain('served in the cluster');
      expect(await ask(mode, serverPort as number, 'large', port)).toContain('xxxxxxxx');
      await agent.stop();
      await expect.poll(() => servers).toBe(0);
    },
  );
});
