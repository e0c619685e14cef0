import { setCondition } from '@berth/kube/model/condition-list';
import { type KindInfo, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { StatusRegistration } from '@berth/ocm/kind/addon';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { StoredAddOn } from '../rules/registration/plan-registration.ts';
import type { ManagerEvent } from '../rules/manager-event.ts';
import { CachedController, type HubControllerOptions } from '@berth/kube/controller/cached-controller';

/** The field manager of what the manager of add-ons writes. */
export const ADDON_MANAGER = 'berth-addons';

/** Of works the cache keeps the spec of those with the label of an add-on. */
export interface AddOnOptions extends HubControllerOptions {
  readonly onEvent?: ((event: ManagerEvent) => void) | undefined;
}

/** A controller of add-ons. Objects of the add-on API are read and written as v1alpha1, which every hub serves and stores. */
export abstract class AddOnController<
  Options extends AddOnOptions = AddOnOptions,
> extends CachedController<Options> {
  /**
   * Writes the status, or else metadata, of an object.
   * @throws ConflictError when it changed since it was read
   */
  protected async patch(
    kind: KindInfo,
    { metadata: { namespace = '', name, uid, resourceVersion } }: KubeObject,
    { metadata, status }: { readonly metadata?: object; readonly status?: object },
  ): Promise<void> {
    await this.options.hub.mergePatch(
      kind,
      { namespace, name },
      { metadata: { uid, resourceVersion, ...metadata }, ...(status && { status }) },
      { ...(status && { subresource: 'status' as const }), fieldManager: ADDON_MANAGER, metadataOnly: true },
    );
  }
}

/** Parts of the status of an add-on. What is absent stays. */
export interface StatusChange {
  readonly registrations?: readonly StatusRegistration[] | undefined;
  /** Where the agent of the add-on runs. */
  readonly namespace?: string | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  /** Types of conditions that go. */
  readonly without?: readonly string[] | undefined;
  /** How the health of the add-on is known. An add-on that does not say it has a lease. */
  readonly healthMode?: 'Customized' | 'Lease' | undefined;
}

/** The fields of the status of an add-on that differ with a change. */
export function changedStatus(
  { clock }: Pick<AddOnOptions, 'clock'>,
  { status = {} }: StoredAddOn,
  { registrations, namespace: place, conditions = [], without = [], healthMode }: StatusChange,
): object {
  const before = status.conditions ?? [];
  const now = formatRfc3339(instantFromEpochMs(clock.now()));
  const after = conditions.reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    before.filter(({ type }) => !without.includes(type)),
  );
  return {
    ...(registrations !== undefined &&
      !jsonEqual(registrations, status.registrations ?? []) && { registrations }),
    ...(place !== undefined && place !== status.namespace && { namespace: place }),
    ...(!jsonEqual(after, before) && { conditions: after }),
    ...(healthMode !== undefined &&
      healthMode !== (status.healthCheck?.mode ?? 'Lease') && {
        healthCheck: { ...status.healthCheck, mode: healthMode },
      }),
  };
}

/**
 * Writes parts of the status of an add-on that differ, with one request.
 * @returns the add-on as the hub has it now; undefined if nothing differs
 * @throws ConflictError when the add-on changed since it was read
 */
export async function writeAddOnStatus<AddOn extends StoredAddOn>(
  options: Pick<AddOnOptions, 'hub' | 'clock'>,
  addon: AddOn,
  wanted: StatusChange,
): Promise<AddOn | undefined> {
  const { metadata, status } = addon;
  const change = changedStatus(options, addon, wanted);
  if (Object.keys(change).length === 0) return undefined;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const written = await options.hub.mergePatch(
    MANAGED_CLUSTER_ADDON,
    { namespace, name },
    { metadata: { uid, resourceVersion }, status: change },
    { subresource: 'status', fieldManager: ADDON_MANAGER, metadataOnly: true },
  );
  // Nobody else has written since: the version is a condition of the request.
  return { ...addon, metadata: written.metadata, status: { ...status, ...change } };
}
