import { randomBytes } from 'node:crypto';
import { errorText } from '../../../core/errors.ts';
import { EVENT } from '../../../core/model/kinds.ts';
import type { ManagedCluster } from '../../../core/model/kind/managed-cluster.ts';
import type { KubeApi } from '../../../core/ports.ts';
import { clusterEvent } from '../../../core/registration/cluster-event.ts';
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
