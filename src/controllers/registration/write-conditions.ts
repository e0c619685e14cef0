import { jsonEqual } from '../../core/model/json-equal.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import type { Condition, KubeObject } from '../../core/model/object-meta.ts';
import { formatRfc3339, instantFromEpochMs } from '../../core/model/rfc3339.ts';
import type { Clock, KubeApi } from '../../core/ports.ts';
import { setCondition } from '../../core/work/conditions/condition-list.ts';
import { REGISTRATION_MANAGER } from '../../core/registration/names.ts';

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
