import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asServiceAccount } from './as-service-account.ts';
import { freePort } from './free-port.ts';
import { startPeer } from './peer-process.ts';

export interface ArgoServer {
  readonly url: string;
  /** What Argo CD's own program would make of an ApplicationSet: its Applications, or the error. */
  generate(
    applicationSet: object,
  ): Promise<{ readonly applications?: readonly object[]; readonly message?: string }>;
  stop(): Promise<void>;
}

/**
 * Starts argocd-server with redis, with the rights of its own service account, and without a login.
 * Ask `hasPeers(...ARGO_CONTROLLER_PROGRAMS)` first.
 * @param dir a folder of the caller's for its files and log
 * @param kubeconfig of an administrator of the cluster that holds the namespace `argocd`
 */
export async function startArgoServer(
  dir: string,
  kubeconfig: string,
  flags: readonly string[] = [],
): Promise<ArgoServer> {
  const [tls, ssh, tmp] = ['server-tls', 'server-ssh', 'server-tmp'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [tls, ssh, tmp]) mkdirSync(folder, { recursive: true });
  const own = join(dir, 'server.kubeconfig');
  writeFileSync(own, asServiceAccount(readFileSync(kubeconfig, 'utf8'), 'argocd-server'));
  const [redisPort, port] = [await freePort(), await freePort()];
  const redis = startPeer('redis-server', {
    args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', tmp],
    logFile: join(dir, 'server-redis.log'),
  });
  const server = startPeer('argocd', {
    args: [
      ...['--kubeconfig', own, '--namespace', 'argocd', '--insecure', '--disable-auth'],
      ...['--address', '127.0.0.1', '--port', String(port)],
      ...['--metrics-address', '127.0.0.1', '--metrics-port', String(await freePort())],
      // Only generators that read Git ask the repository server, and nobody logs in.
      ...['--redis', `127.0.0.1:${redisPort}`, '--repo-server', '127.0.0.1:1', '--repo-server-plaintext'],
      ...['--dex-server', '127.0.0.1:1', '--staticassets', tmp],
      ...flags,
    ],
    env: {
      ARGOCD_BINARY_NAME: 'argocd-server',
      ARGOCD_TLS_DATA_PATH: tls,
      ARGOCD_SSH_DATA_PATH: ssh,
      ARGOCD_GPG_ENABLED: 'false',
      TMPDIR: tmp,
      KUBECONFIG: own,
      POD_NAME: 'argocd-server-0',
    },
    logFile: join(dir, 'argocd-server.log'),
  });
  const url = `http://127.0.0.1:${port}`;
  await server.until(async () => (await fetch(`${url}/healthz`)).ok);
  return {
    url,
    async generate(applicationSet) {
      const answer = await fetch(`${url}/api/v1/applicationsets/generate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ applicationSet }),
      });
      return (await answer.json()) as Awaited<ReturnType<ArgoServer['generate']>>;
    },
    async stop() {
      await server.stop();
      await redis.stop();
    },
  };
}
