import { randomBytes } from 'node:crypto';
import { errorText } from '@berth/runtime/errors';
import { EVENT } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { clusterEvent } from '@berth/ocm/registration/cluster-event';
import type { RegistrationSettings } from '../options/registration-settings.ts';

/**
 * Writes Events about a ManagedCluster into its namespace on the hub. One that cannot be written is dropped, because
 * nothing depends on it.
 */
export class ClusterEvents {
  readonly #hub: KubeApi;
  readonly #settings: RegistrationSettings;

  constructor(hub: KubeApi, settings: RegistrationSettings) {
    this.#hub = hub;
    this.#settings = settings;
  }

  report(
    cluster: ManagedCluster,
    reason: string,
    { type, note }: { readonly type: 'Normal' | 'Warning'; readonly note: string },
  ): void {
    const { name } = cluster.metadata;
    const { clock, log } = this.#settings;
    const event = clusterEvent(
      cluster,
      { type, reason, action: reason, note },
      {
        ...{ controller: 'berth-agent', instance: name },
        ...{ nowMs: clock.now(), suffix: randomBytes(8).toString('hex') },
      },
    );
    this.#hub.create(EVENT, event).catch((error: unknown) => {
      log.debug('an Event cannot be written', { cluster: name, reason, problem: errorText(error) });
    });
  }
}
