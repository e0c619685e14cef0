import { fieldConflicts } from '../../../adapters/kube/transport/kube-errors.ts';
import { ConflictError } from '../../../core/errors.ts';
import type { KindInfo } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { KubeApi } from '../../../core/ports.ts';
import { hasTaints, TAINTS_FIELD, withHubTaints } from '../../../core/sync/applied/cluster-taints.ts';

/** Field manager of everything that comes from Git. */
export const FIELD_MANAGER = 'berth';

export interface ApplyDesired {
  readonly api: KubeApi;
  readonly kind: KindInfo;
  readonly desired: KubeObject;
  /** As it was listed; undefined when it was not, or is not there. */
  readonly live: KubeObject | undefined;
  /** The object may be on the hub although `live` is undefined, with taints that Git said before. */
  readonly mayBeThere: boolean;
  /** Take fields that other managers own. */
  readonly force: boolean;
}

/**
 * Applies an object from Git. The taints of a cluster are a list of several writers, and one field to the server: where another one wrote
 * it last, it is written again with what that one says, at the version that was read.
 * @returns the object as the server has it then
 */
export async function applyDesired(task: ApplyDesired): Promise<KubeObject> {
  const { api, kind, desired, live, mayBeThere, force } = task;
  const isBlind =
    live === undefined && (hasTaints(desired) || (mayBeThere && desired.kind === 'ManagedCluster'));
  const known = isBlind ? await readOne(api, kind, desired) : live;
  try {
    return await send(task, known, force);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (fieldConflicts(error).some(({ field }) => field !== TAINTS_FIELD)) throw error;
    const now = await readOne(api, kind, desired);
    if (!hasTaints(withHubTaints(desired, now, FIELD_MANAGER))) throw error;
    return send(task, now, true);
  }
}

/** With force, taints are sent for the version that they were read from: whatever comes in between stays. */
function send(
  { api, kind, desired }: ApplyDesired,
  live: KubeObject | undefined,
  force: boolean,
): Promise<KubeObject> {
  const sent = withHubTaints(desired, live, FIELD_MANAGER);
  const resourceVersion = live?.metadata.resourceVersion;
  const isBound = force && hasTaints(sent) && resourceVersion !== undefined;
  const bound = isBound ? { ...sent, metadata: { ...sent.metadata, resourceVersion } } : sent;
  return api.apply(kind, bound, { fieldManager: FIELD_MANAGER, force });
}

/** By a list: it takes no right besides those of a source. */
async function readOne(
  api: KubeApi,
  kind: KindInfo,
  { metadata }: KubeObject,
): Promise<KubeObject | undefined> {
  const { items } = await api.list(kind, {
    namespace: metadata.namespace,
    fieldSelector: `metadata.name=${metadata.name}`,
  });
  return items[0];
}
