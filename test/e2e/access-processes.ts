import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HubWorld } from '@berth/addon/testing';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { forwardRequest, type Http1Incoming, onRequests } from '@berth/runtime/http/forward-request';
import { listenAt } from '@berth/runtime/http/http-listener';
import { expect } from 'vitest';
import { accountToken, addTo, bind, namespace } from '../../packages/access/test/access-world.ts';
import { openBalancer } from '../../packages/tunnel/test/tunnel-harness.ts';
import { freePort } from '../interop/peers/free-port.ts';
import { BerthProcess } from './berth-process.ts';

const SYSTEM = 'open-cluster-management-hub';
const CLIENT = join(import.meta.dirname, 'access-client.mjs');
const AS = { kind: 'User', name: 'cluster:hub:system:serviceaccount:default:alice' };

interface Server {
  /** Of its own, beside the one that leads to each in turn. */
  readonly url: string;
  readonly args: readonly string[];
  process: BerthProcess;
}

type Counts = Readonly<Record<string, readonly [good: number, failed: number]>>;

/**
 * Two processes of `berth proxy serve` behind one address, an agent for each cluster, and their users: each can be killed and started
 * again.
 */
export class AccessProcesses {
  /** What clients saw that must never be. */
  readonly wrong: string[] = [];
  readonly #world: HubWorld;
  readonly #folder: string;
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #agents = new Map<string, BerthProcess>();
  readonly #clients = new Map<string, ChildProcess>();
  readonly #counts = new Map<number | undefined, Counts>();
  readonly #hangMs: number;
  readonly #servers: Server[] = [];
  #url = '';
  #token = '';
  #ca = '';

  constructor(world: HubWorld, hangMs: number) {
    this.#world = world;
    this.#hangMs = hangMs;
    this.#folder = dirname(world.kubeconfigs.hub);
  }

  static async start(world: HubWorld, hangMs: number): Promise<AccessProcesses> {
    const access = new AccessProcesses(world, hangMs);
    await access.#open();
    return access;
  }

  async #open(): Promise<void> {
    const { hub, clusters, kubeconfigs, waitFor } = this.#world;
    await namespace(hub, SYSTEM);
    const [users, agents] = [
      [await freePort(), await freePort()],
      [await freePort(), await freePort()],
    ];
    const [userPort, agentPort] = [await openBalancer(users), await openBalancer(agents)];
    this.#url = `https://127.0.0.1:${userPort}`;
    for (const [at, port] of users.entries()) {
      const args = [
        ...['proxy', 'serve', '--kubeconfig', kubeconfigs.hub, '--log-level', 'warn', '--replicas', '2'],
        ...['--listen', `127.0.0.1:${port}`, '--agent-listen', `127.0.0.1:${agents[at]}`],
        ...['--public-url', this.#url, '--agent-address', `127.0.0.1:${agentPort}`],
      ];
      this.#servers.push({ url: `https://127.0.0.1:${port}`, args, process: new BerthProcess(args) });
    }
    const config = await waitFor(() =>
      hub.get(CONFIG_MAP, { namespace: SYSTEM, name: 'cluster-proxy-user-server' }),
    );
    this.#ca = (config['data'] as { 'ca.crt': string })['ca.crt'];
    this.#token = await accountToken(hub, 'alice');
    for (const [name, cluster] of clusters) {
      await addTo(this.#world, name);
      await bind(cluster, 'edit', AS);
      await this.#openFront(name, kubeconfigs.clusters.get(name) ?? '');
      this.#agents.set(name, this.#startAgent(name));
    }
    writeFileSync(join(this.#folder, 'users.ca'), this.#ca);
  }

  /**
   * The API server of a cluster as its agent sees it. There are no pods: a place of the test answers exec and port-forward, and all
   * else goes to the cluster.
   */
  async #openFront(name: string, file: string): Promise<void> {
    const config = loadKubeConfig({ file });
    const [base, ca] = [config.serverUrl(), config.getCurrentCluster()?.caData ?? ''];
    const pair = createAuthority(name, Date.now());
    const { certPem, keyPem } = await new CertificateAuthority(pair).issueServing(
      ['127.0.0.1'],
      Date.now(),
      86_400_000,
    );
    const server = https.createServer({ cert: certPem, key: keyPem });
    const agent = new https.Agent({ ca: Buffer.from(ca, 'base64'), keepAlive: true });
    const close = onRequests(server, (incoming) => {
      if (incoming.upgrade !== undefined) serveUpgrade(name, incoming);
      else {
        const { headers, url } = incoming.request;
        const options = {
          hostname: base?.hostname,
          port: base?.port,
          path: `${base?.pathname.replace(/\/$/, '')}${url}`,
        };
        const send = (one: https.RequestOptions) => https.request({ ...one, agent });
        forwardRequest(incoming, { send, options: { ...options, headers } }).catch(() =>
          incoming.response.destroy(),
        );
      }
    });
    const { address } = await listenAt(server, { host: '127.0.0.1', port: 0 });
    this.#closers.push(async () => {
      agent.destroy();
      await close();
    });
    const text = readFileSync(file, 'utf8')
      .replace(/server: .*/, `server: "https://${address}"`)
      .replace(/certificate-authority-data: .*/, `certificate-authority-data: ${btoa(pair.certPem)}`);
    writeFileSync(this.#agentFile(name), text);
  }

  #agentFile(name: string): string {
    return join(this.#folder, `agent-of-${name}.kubeconfig`);
  }

  #startAgent(name: string): BerthProcess {
    return new BerthProcess(['proxy', 'agent', '--kubeconfig', this.#agentFile(name), '--log-level', 'warn']);
  }

  async restartServer(at: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const server = this.#servers[at];
    if (server === undefined) return;
    await end(server.process, signal);
    server.process = new BerthProcess(server.args);
  }

  async restartAgent(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await end(this.#agents.get(name), signal);
    this.#agents.set(name, this.#startAgent(name));
  }

  startClient(name: string, items: number): void {
    const args = [
      CLIENT,
      this.#url,
      join(this.#folder, 'users.ca'),
      this.#token,
      name,
      `${this.#hangMs}`,
      `${items}`,
    ];
    const client = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#clients.set(name, client);
    createInterface(client.stdout).on('line', (line) => {
      if (line.startsWith('{')) this.#counts.set(client.pid, JSON.parse(line) as Counts);
      else this.wrong.push(line);
    });
  }

  async endClient(name: string): Promise<void> {
    const client = this.#clients.get(name);
    client?.kill('SIGKILL');
    if (client?.exitCode === null && client.signalCode === null) await once(client, 'exit');
  }

  /** How often each kind went well and failed, of all clients that ever ran. */
  counts(): Counts {
    const sums: Record<string, readonly [number, number]> = {};
    for (const counts of this.#counts.values())
      for (const [kind, [good, failed]] of Object.entries(counts))
        sums[kind] = [(sums[kind]?.[0] ?? 0) + good, (sums[kind]?.[1] ?? 0) + failed];
    return sums;
  }

  /** @returns the milliseconds until each cluster answers through each server */
  async whenBack(limitMs: number): Promise<number> {
    const from = performance.now();
    for (const { url, process } of this.#servers)
      for (const [name, agent] of this.#agents) {
        let status = await this.#ask(`${url}/${name}/version`);
        // fixed wait: the pace of a poll
        for (; status !== 200 && performance.now() - from < limitMs; await sleep(20))
          status = await this.#ask(`${url}/${name}/version`);
        expect(status, `${name} is not back in time:\n${process.text}\n${agent.text}`).toBe(200);
      }
    return performance.now() - from;
  }

  async #ask(url: string): Promise<number | undefined> {
    const options = { ca: this.#ca, agent: false, headers: { authorization: `Bearer ${this.#token}` } };
    const request = https.get(url, options);
    return new Promise((resolve) => {
      request.once('error', () => resolve(undefined));
      request.once('response', (response) => {
        response.resume().once('close', () => resolve(response.statusCode));
      });
    });
  }

  /** The files and sockets that the servers and the agents have open. */
  openFiles(): readonly number[] {
    return this.#berths().map(({ child }) => readdirSync(`/proc/${child.pid}/fd`).length);
  }

  /** Bytes of memory of the servers. */
  serverMemory(): number {
    const texts = this.#servers.map(({ process }) =>
      readFileSync(`/proc/${process.child.pid}/status`, 'utf8'),
    );
    return texts.reduce((sum, text) => sum + Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) * 1_024, 0);
  }

  async close(): Promise<void> {
    for (const name of this.#clients.keys()) await this.endClient(name);
    await Promise.all(this.#berths().map((one) => one.kill()));
    for (const close of this.#closers) await close();
  }

  #berths(): readonly BerthProcess[] {
    return [...this.#servers.map(({ process }) => process), ...this.#agents.values()];
  }
}

async function end(process: BerthProcess | undefined, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (signal === 'SIGKILL') await process?.kill();
  else await process?.stop();
}

/** exec answers each line with the cluster's stamp before it; port-forward sends all bytes back. */
function serveUpgrade(name: string, { request, upgrade }: Http1Incoming): void {
  const socket = upgrade?.socket;
  socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const isExec = request.url?.includes('/exec') === true;
  socket?.on('data', (data: Buffer) => socket.write(isExec ? `of-${name} ${data.toString()}` : data));
  socket?.once('end', () => socket.end());
}
