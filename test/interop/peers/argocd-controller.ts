import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';
import type { PeerProcess } from './peer-process.ts';
import { PEERS_DIR } from './peer-programs.ts';
import { startPeer } from './peer-process.ts';

/** The programs that `startArgoController` needs: ask `hasPeers` first. */
export const ARGO_CONTROLLER_PROGRAMS = ['argocd', 'git-verify-wrapper.sh', 'redis-server'] as const;

/**
 * Starts Argo CD's application controller with its repository server and redis, all on loopback but for the metrics of the
 * application controller, which has no flag for their address.
 * @param dir a folder of the caller's for their files and logs
 * @param kubeconfig of the cluster that holds the namespace `argocd` with the Applications
 */
export async function startArgoController(
  dir: string,
  kubeconfig: string,
): Promise<{ stop(): Promise<void> }> {
  const [redis, repo] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const folders = ['tls', 'ssh', 'tmp'].map((name) => join(dir, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const [tls = '', ssh = '', tmp = ''] = folders;
  const env = {
    ARGOCD_GPG_ENABLED: 'false',
    ARGOCD_TLS_DATA_PATH: tls,
    ARGOCD_SSH_DATA_PATH: ssh,
    // It calls the script git-verify-wrapper.sh of its module by name.
    PATH: `${PEERS_DIR}${delimiter}${process.env['PATH']}`,
    POD_NAME: 'argocd-0',
    TMPDIR: tmp,
  };
  const start = (name: string, args: readonly string[]): PeerProcess =>
    startPeer('argocd', {
      args: [...args],
      env: { ...env, ARGOCD_BINARY_NAME: name },
      logFile: join(dir, `${name}.log`),
    });
  const port = (address: string): string => address.split(':')[1] ?? '';
  const processes = [
    startPeer('redis-server', {
      args: ['--port', port(redis), '--bind', '127.0.0.1', '--save', '', '--dir', tmp],
      logFile: join(dir, 'redis.log'),
    }),
    start('argocd-repo-server', [
      ...['--address', '127.0.0.1', '--port', port(repo)],
      ...['--metrics-address', '127.0.0.1', '--metrics-port', String(await freePort())],
      // Since 3.6 it refuses to serve without TLS while it has a path of client certificates.
      ...['--redis', redis, '--disable-tls', '--client-ca-path', ''],
    ]),
    start('argocd-application-controller', [
      ...['--kubeconfig', kubeconfig, '--namespace', 'argocd', '--redis', redis],
      ...['--repo-server', repo, '--repo-server-plaintext', '--metrics-port', String(await freePort())],
    ]),
  ];
  return {
    async stop() {
      for (const one of processes.reverse()) await one.stop();
    },
  };
}
