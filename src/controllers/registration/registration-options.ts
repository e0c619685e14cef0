import type { HubControllerOptions } from '@berth/kube/controller/cached-controller';
import { setCondition } from '@berth/kube/model/condition-list';
import type { EventContent } from '@berth/kube/model/event';
import { EVENT, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { clusterEvent } from '@berth/ocm/registration/cluster-conditions';
import { REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { AutoAcceptance } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { REMOVAL_HELD } from '../../core/registration/cluster-deletion.ts';
import type { RegistrationEvent } from '../../core/registration/duties.ts';

/** Of leases, certificate requests and RBAC objects the cache keeps those that carry the label of a cluster. */
export interface RegistrationOptions extends HubControllerOptions {
  readonly autoAcceptance: AutoAcceptance;
  /**
   * The placements that Berth decides: those with its annotation, all, or none. A cluster that is being deleted keeps what runs
   * on it while one of them selects it. Default: none.
   */
  readonly decides?: 'own' | 'all' | 'none' | undefined;
  /** Why works of pulled Applications on the cluster must stay. Default: none do. */
  readonly holdsOfPull?: ((cluster: string) => readonly string[]) | undefined;
  readonly onEvent?: ((event: RegistrationEvent) => void) | undefined;
}

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

/**
 * Sets conditions in the status of an object. It sends at most one request, and none if they are already set. Other
 * conditions stay.
 * @returns whether something was written
 * @throws ConflictError when the object changed since it was read
 */
export async function writeConditions(
  { hub, clock }: { readonly hub: KubeApi; readonly clock: Clock },
  kind: KindInfo,
  object: KubeObject,
  conditions: readonly Condition[],
): Promise<boolean> {
  const { conditions: before = [] } = (object['status'] ?? {}) as { readonly conditions?: Condition[] };
  const now = formatRfc3339(instantFromEpochMs(clock.now()));
  const after = conditions.reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    before,
  );
  if (jsonEqual(after, before)) return false;
  const { namespace = '', name, uid, resourceVersion } = object.metadata;
  await hub.mergePatch(
    kind,
    { namespace, name },
    { metadata: { uid, resourceVersion }, status: { conditions: after } },
    { subresource: 'status', fieldManager: REGISTRATION_MANAGER, metadataOnly: true },
  );
  return true;
}
