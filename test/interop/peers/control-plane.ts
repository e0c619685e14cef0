import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiAddress, ApiClient } from './api-client.ts';
import { apiClient } from './api-client.ts';
import { freePort } from './free-port.ts';
import type { PeerProcess } from './peer-process.ts';
import { startPeer } from './peer-process.ts';

/** The programs that `startControlPlane` needs: ask `hasPeers` first. */
export const CONTROL_PLANE_PROGRAMS = ['etcd', 'kube-apiserver'] as const;

export interface ControlPlane extends ApiAddress {
  readonly client: ApiClient;
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** Keeps a copy of etcd's data; etcd and kube-apiserver are started again. */
  backUp(): Promise<void>;
  /**
   * Gives etcd the data of the last `backUp` again.
   * @param also the programs that are started again beside etcd. Without kube-apiserver its caches keep what is gone.
   */
  restore(also?: readonly 'kube-apiserver'[]): Promise<void>;
  stop(): Promise<void>;
}

interface Program {
  readonly name: (typeof CONTROL_PLANE_PROGRAMS)[number];
  readonly args: readonly string[];
  readonly isReady: () => Promise<boolean>;
}

/**
 * Starts etcd and kube-apiserver on free ports of the loopback address, with all their files in a folder of their own.
 * @param flags further flags of kube-apiserver
 * @param host another address of this machine, for kube-apiserver
 */
export async function startControlPlane(
  flags: readonly string[] = [],
  host = '127.0.0.1',
): Promise<ControlPlane> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-peer-'));
  const running = new Map<string, PeerProcess>();
  const start = async ({ name, args, isReady }: Program): Promise<void> => {
    const process = startPeer(name, { args, logFile: join(dir, `${name}.log`) });
    running.set(name, process);
    await process.until(isReady);
  };
  const end = async (name: string): Promise<void> => {
    await running.get(name)?.stop();
    running.delete(name);
  };
  const stop = async (): Promise<void> => {
    for (const name of [...running.keys()].reverse()) await end(name);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const [etcd, etcdUrl] = await etcdProgram(dir);
    await start(etcd);
    const [server, addressNow] = await apiServerProgram(dir, etcdUrl, flags, host);
    await start(server);
    const address = addressNow();
    const client = apiClient(address);
    /** Both, in the order in which they need each other; `change` happens while etcd is down. */
    const again = async (isServerToo: boolean, change: () => void): Promise<void> => {
      if (isServerToo) await end(server.name);
      await end(etcd.name);
      change();
      await start(etcd);
      if (isServerToo) await start(server);
    };
    const [data, copy] = [join(dir, 'etcd'), join(dir, 'backup')];
    return {
      ...address,
      client,
      kubeconfig: writeKubeconfig(dir, address),
      backUp: () => again(true, () => cpSync(data, copy, { recursive: true })),
      restore: (also = ['kube-apiserver']) =>
        again(also.includes('kube-apiserver'), () => {
          rmSync(data, { recursive: true });
          cpSync(copy, data, { recursive: true });
        }),
      stop: async () => {
        client.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns the program and its address for clients */
async function etcdProgram(dir: string): Promise<[Program, string]> {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
  return [{ name: 'etcd', args, isReady: async () => (await fetch(`${client}/health`)).ok }, client];
}

/** @returns the program, and what its address is when it runs */
async function apiServerProgram(
  dir: string,
  etcdUrl: string,
  flags: readonly string[],
  host: string,
): Promise<[Program, () => ApiAddress]> {
  const port = await freePort();
  const token = randomBytes(16).toString('hex');
  const certificates = join(dir, 'certificates');
  mkdirSync(certificates);
  writeFileSync(join(dir, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const keyFile = join(dir, 'service-account.key');
  writeFileSync(keyFile, serviceAccountKey());
  const args = [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${host}`,
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${keyFile}`,
    `--service-account-signing-key-file=${keyFile}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--allow-privileged',
    ...flags,
  ];
  const certificate = join(certificates, 'apiserver.crt');
  const url = `https://${host}:${port}`;
  const addressNow = (): ApiAddress => ({ url, token, caPem: readFileSync(certificate, 'utf8') });
  const isServing = async (): Promise<boolean> => existsSync(certificate) && (await isReady(addressNow()));
  return [{ name: 'kube-apiserver', args, isReady: isServing }, addressNow];
}

async function isReady(address: ApiAddress): Promise<boolean> {
  const client = apiClient(address);
  try {
    return (await client.call('GET', '/readyz')).status === 200;
  } finally {
    client.close();
  }
}

function serviceAccountKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
}

function writeKubeconfig(dir: string, { url, token, caPem }: ApiAddress): string {
  const file = join(dir, 'kubeconfig');
  const authority = Buffer.from(caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'hub',
    clusters: [{ name: 'hub', cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'admin', namespace: 'default' } }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
