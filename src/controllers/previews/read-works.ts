import { BerthError, errorText } from '@berth/runtime/errors';
import { apiVersionOf, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { JudgedDeletions } from '../../core/preview/judged-deletions.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';

interface ReadWorks {
  /** Undefined: unknown. */
  readonly items: PlanSide['works'];
  readonly notEvaluated: readonly string[];
}

/** Reads the works on the hub, if replica sets are planned. Some of these may have left Git, and be held on the hub. */
export async function readWorks(
  hub: KubeApi | undefined,
  sides: readonly { readonly objects: readonly SourceObject[] }[],
  deletions: readonly Pick<JudgedDeletions, 'left'>[],
): Promise<ReadWorks> {
  const isReplicaSet = ({ kind }: KubeObject): boolean => kind === MANIFEST_WORK_REPLICA_SET.kind;
  const isPlanned =
    sides.some(({ objects }) => objects.some(({ object }) => isReplicaSet(object))) ||
    deletions.some(({ left }) => left.some(isReplicaSet));
  if (hub === undefined || !isPlanned) return { items: undefined, notEvaluated: [] };
  try {
    const kind = await hub.resolve(apiVersionOf(MANIFEST_WORK), MANIFEST_WORK.kind);
    return { items: kind === undefined ? [] : (await hub.list(kind)).items, notEvaluated: [] };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const note = `The works of replica sets cannot be read. The plan assumes them on the published clusters: ${errorText(error)}`;
    return { items: undefined, notEvaluated: [note] };
  }
}
