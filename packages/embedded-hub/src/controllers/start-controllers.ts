import { hasToken, mentionsTokenSecret } from '../admission/legacy-tokens.ts';
import type { ApiCluster } from '../cluster/api-cluster.ts';
import { CertificateSigner } from './certificate-signer.ts';
import { CrdCleaner } from './crd-cleaner.ts';
import { EventExpiry } from './event-expiry.ts';
import { GarbageCollector } from './garbage-collector.ts';
import type { HubController } from './hub-controller.ts';
import { KubernetesService } from './kubernetes-service.ts';
import { LogCompactor } from './log-compactor.ts';
import { NamespaceController } from './namespace-controller.ts';
import { PolicyStatus } from './policy-status.ts';
import { TokenSecrets } from './token-secrets.ts';

export interface RunningControllers {
  stop(): Promise<void>;
}

/**
 * Starts the controllers of one cluster.
 * @param servingCaPem authority of the server's certificate
 * @param isApiServerOnly true: does not start the controllers that kube-controller-manager runs
 */
export function startControllers(
  cluster: ApiCluster,
  servingCaPem: string,
  isApiServerOnly: boolean,
): RunningControllers {
  const managerControllers = (): readonly HubController[] => [
    new NamespaceController(cluster, servingCaPem),
    new GarbageCollector(cluster),
    new PolicyStatus(cluster),
    new CertificateSigner(cluster, cluster.authorities.clients),
    ...(cluster.legacyTokenSecrets ? [new TokenSecrets(cluster, servingCaPem)] : []),
  ];
  const controllers: HubController[] = [
    ...(isApiServerOnly ? [] : managerControllers()),
    new KubernetesService(cluster),
    new CrdCleaner(cluster),
    new EventExpiry(cluster),
    new LogCompactor(cluster),
  ];
  for (const controller of controllers) controller.start();
  if (!cluster.legacyTokenSecrets) reportRefusedTokens(cluster);
  return {
    async stop() {
      for (const controller of controllers) await controller.stop();
    },
  };
}

/** Logs once at the start whose tokens are refused because the hub runs without legacy token Secrets. */
function reportRefusedTokens({ store, log }: ApiCluster): void {
  const secrets = store
    .list('secrets')
    .filter((entry) => mentionsTokenSecret(entry.json()) && hasToken(entry.object));
  if (secrets.length === 0) return;
  log.warn(
    'Secrets hold ServiceAccount tokens of ten years, which are refused; use kubectl create token, or start the hub with --legacy-token-secrets',
    {
      count: secrets.length,
      first: secrets.slice(0, 5).map(({ namespace, name }) => `${namespace}/${name}`),
    },
  );
}
