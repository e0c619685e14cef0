import { InputError } from '@berth/runtime/errors';
import type { EventContent } from '@berth/kube/model/event';
import { EVENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { clusterEvent } from '@berth/ocm/registration/cluster-event';
import type { REMOVAL_HELD } from '../../core/registration/cluster-deletion.ts';
import type { RegistrationOptions } from './registration-options.ts';

interface HubEventContent extends EventContent {
  readonly reason:
    | 'ManagedClusterAccepted'
    | 'ManagedClusterDenied'
    | 'AvailableUnknown'
    | typeof REMOVAL_HELD;
}

const CONTROLLER = 'berth-registration';

/**
 * Writes an Event into the namespace of the cluster. An Event that the hub refuses is dropped, because nothing depends
 * on it.
 */
export async function reportEvent(
  { hub, clock, log, random }: Pick<RegistrationOptions, 'hub' | 'clock' | 'log' | 'random'>,
  cluster: KubeObject,
  content: HubEventContent,
): Promise<void> {
  const nowMs = clock.now();
  const suffix = `${Math.floor(nowMs).toString(16)}${Math.floor(random() * 0x10000).toString(16)}`;
  const event = clusterEvent(cluster, content, {
    ...{ controller: CONTROLLER, instance: CONTROLLER },
    ...{ nowMs, suffix },
  });
  try {
    await hub.create(EVENT, event, { metadataOnly: true });
  } catch (error) {
    log[error instanceof InputError ? 'warn' : 'debug']('an Event was not written', {
      cluster: cluster.metadata.name,
      reason: content.reason,
      error,
    });
  }
}
