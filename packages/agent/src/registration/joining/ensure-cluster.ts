import { BerthError, ConflictError, errorText } from '@berth/runtime/errors';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AGENT_ANNOTATION_PREFIX } from '@berth/ocm/registration/names';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep } from '@berth/runtime/loop/sleep';
import type { RegistrationSettings } from '../options/registration-settings.ts';

interface EnsureClusterOptions {
  readonly api: KubeApi;
  readonly cluster: string;
  readonly settings: RegistrationSettings;
}

const CHECK_INTERVAL_MS = 3_600_000;
const TOKEN_HINT = 'berth get token prints another one on the hub, and berth join writes it to the cluster';

/**
 * Creates the ManagedCluster of the agent if it does not exist.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/registration/creating_controller.go`.
 */
export async function ensureCluster({ api, cluster, settings }: EnsureClusterOptions): Promise<void> {
  if ((await api.get(MANAGED_CLUSTER, { namespace: '', name: cluster })) !== undefined) return;
  const { annotations, clientConfigs, log } = settings;
  const own = Object.entries(annotations).filter(([name]) => name.startsWith(AGENT_ANNOTATION_PREFIX));
  try {
    await api.create(MANAGED_CLUSTER, {
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name: cluster, ...(own.length > 0 && { annotations: Object.fromEntries(own) }) },
      spec: {
        hubAcceptsClient: false,
        ...(clientConfigs.length > 0 && { managedClusterClientConfigs: clientConfigs }),
      },
    });
    log.info('cluster registered', { cluster, hub: api.server });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

/**
 * Calls `ensureCluster` again and again until the signal aborts. The ManagedCluster may be deleted while the agent waits
 * for its certificate.
 */
export async function recreateDeletedCluster(
  options: EnsureClusterOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = options.settings;
  const backoff = new Backoff({ initialMs: 2_000, maxMs: 60_000 }, random);
  while (!signal.aborted) {
    let waitMs = CHECK_INTERVAL_MS * (1 + random());
    try {
      await ensureCluster(options);
      backoff.reset();
    } catch (error) {
      waitMs = backoff.nextMs();
      const fields = { cluster: options.cluster, problem: errorText(error) };
      const code = error instanceof BerthError ? error.code : '';
      if (code === 'kube.unauthorized')
        log.warn('the hub does not know the token of the bootstrap kubeconfig: it may have expired', {
          ...fields,
          hint: TOKEN_HINT,
        });
      // A denied cluster has lost its rights on the hub, and may get them back.
      else log[code === 'kube.forbidden' ? 'debug' : 'warn']('cluster cannot be registered yet', fields);
    }
    await sleep(clock, waitMs, signal);
  }
}
