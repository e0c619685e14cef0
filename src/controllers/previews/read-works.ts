import { BerthError, errorText } from '../../core/errors.ts';
import { apiVersionOf, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '../../core/model/kinds.ts';
import type { SourceObject } from '../../core/model/source-object.ts';
import type { KubeApi } from '../../core/ports.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';

interface ReadWorks {
  /** Undefined: unknown. */
  readonly items: PlanSide['works'];
  readonly notEvaluated: readonly string[];
}

/** Reads the works on the hub, if replica sets are planned. */
export async function readWorks(
  hub: KubeApi | undefined,
  objects: readonly SourceObject[],
): Promise<ReadWorks> {
  const isPlanned = objects.some(({ object }) => object.kind === MANIFEST_WORK_REPLICA_SET.kind);
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
