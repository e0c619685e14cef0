import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asServiceAccount } from './as-service-account.ts';
import { freePort } from './free-port.ts';
import { startPeer } from './peer-process.ts';

/** The service account of the controller in a stock installation of Argo CD. */
const CONTROLLER = 'argocd-applicationset-controller';

export interface ApplicationSetController {
  /** What it wrote so far. */
  readonly log: () => string;
  stop(): Promise<void>;
}

/**
 * Starts Argo CD's ApplicationSet controller with the rights of its own service account. Ask `hasPeers('argocd')` first.
 * @param dir a folder of the caller's for its files and log
 * @param kubeconfig of an administrator of the cluster that holds the namespace `argocd`
 */
export async function startApplicationSetController(
  dir: string,
  kubeconfig: string,
): Promise<ApplicationSetController> {
  const [tls, ssh] = [join(dir, 'tls'), join(dir, 'ssh')];
  for (const folder of [tls, ssh]) mkdirSync(folder, { recursive: true });
  const logFile = join(dir, 'applicationset-controller.log');
  const local = async (): Promise<string> => `127.0.0.1:${await freePort()}`;
  const own = join(dir, 'controller.kubeconfig');
  writeFileSync(own, asServiceAccount(readFileSync(kubeconfig, 'utf8'), CONTROLLER));
  const process = startPeer('argocd', {
    args: [
      ...['--kubeconfig', own, '--namespace', 'argocd'],
      ...['--metrics-addr', await local(), '--probe-addr', await local(), '--webhook-addr', await local()],
      // A RollingSync waits for Argo CD to compare each Application by itself before it requests that: by default 30 s.
      ...['--refresh-grace-period-seconds', '1'],
      // Only Git generators ask it.
      ...['--argocd-repo-server', '127.0.0.1:1', '--repo-server-plaintext'],
    ],
    env: {
      // One half of it reads the flag, the other one this.
      KUBECONFIG: own,
      ARGOCD_BINARY_NAME: 'argocd-applicationset-controller',
      ARGOCD_TLS_DATA_PATH: tls,
      ARGOCD_SSH_DATA_PATH: ssh,
      ARGOCD_GPG_ENABLED: 'false',
      POD_NAME: 'argocd-applicationset-controller-0',
    },
    logFile,
  });
  const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
  await process.until(() => Promise.resolve(log().includes('Starting workers')));
  return {
    log,
    stop: () => process.stop(),
  };
}
