import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  stop(): Promise<void>;
}

/**
 * Starts etcd and kube-apiserver on free ports of the loopback address, with all their files in a folder of their own.
 * @param flags further flags of kube-apiserver
 */
export async function startControlPlane(flags: readonly string[] = []): Promise<ControlPlane> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-peer-'));
  const processes: PeerProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const one of processes.splice(0).reverse()) await one.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const etcdUrl = await startEtcd(dir, processes);
    const address = await startApiServer(dir, [etcdUrl, flags], processes);
    const client = apiClient(address);
    const end = async (): Promise<void> => {
      client.close();
      await stop();
    };
    return { ...address, client, kubeconfig: writeKubeconfig(dir, address), stop: end };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEtcd(dir: string, processes: PeerProcess[]): Promise<string> {
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
  const etcd = startPeer('etcd', { args, logFile: join(dir, 'etcd.log') });
  processes.push(etcd);
  await etcd.until(async () => (await fetch(`${client}/health`)).ok);
  return client;
}

async function startApiServer(
  dir: string,
  [etcdUrl, flags]: readonly [string, readonly string[]],
  processes: PeerProcess[],
): Promise<ApiAddress> {
  const port = await freePort();
  const token = randomBytes(16).toString('hex');
  const certificates = join(dir, 'certificates');
  mkdirSync(certificates);
  writeFileSync(join(dir, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const keyFile = join(dir, 'service-account.key');
  writeFileSync(keyFile, serviceAccountKey());
  const args = [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
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
  const server = startPeer('kube-apiserver', { args, logFile: join(dir, 'kube-apiserver.log') });
  processes.push(server);
  const certificate = join(certificates, 'apiserver.crt');
  const url = `https://127.0.0.1:${port}`;
  const addressNow = (): ApiAddress => ({ url, token, caPem: readFileSync(certificate, 'utf8') });
  await server.until(async () => existsSync(certificate) && (await isReady(addressNow())));
  return addressNow();
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
