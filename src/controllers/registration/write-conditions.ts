import { setCondition } from '@berth/kube/model/condition-list';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import type { Clock } from '@berth/runtime/clock/clock';
import { jsonEqual } from '@berth/runtime/json/json-equal';

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
