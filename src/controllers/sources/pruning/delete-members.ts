import type pLimit from 'p-limit';
import { BerthError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { groupByWave } from '../../../core/sync/apply-order.ts';
import { LeaseNotHeldError } from '@berth/kube/leader-election/lease';
import type { CommitBarrier } from '../progress/commit-barrier.ts';
import { requiredKind } from '../members/objects-on-hub.ts';
import type { SourceDeclarations } from '../progress/source-declarations.ts';
import { type SyncProblem, syncProblemOf } from '../members/sync-problem.ts';

export interface DeleteMembersParts {
  readonly api: KubeApi;
  readonly source: string;
  readonly declarations: Pick<SourceDeclarations, 'isDeclaredElsewhere'>;
  readonly limit: ReturnType<typeof pLimit>;
  readonly written?: Pick<CommitBarrier, 'deleted'> | undefined;
}

export interface DeletedMembers {
  readonly deleted: readonly KubeObject[];
  readonly problems: readonly SyncProblem[];
}

/** Deletes objects in the reverse order of applying. If the hub refuses one, the others are still deleted. */
export async function deleteMembers(
  { api, source, declarations, limit, written }: DeleteMembersParts,
  objects: readonly KubeObject[],
  onDeleted: (object: KubeObject) => void,
): Promise<DeletedMembers> {
  const problems: SyncProblem[] = [];
  const deleted: KubeObject[] = [];
  for (const wave of [...groupByWave(objects)].reverse())
    await Promise.all(
      wave.map((object) =>
        limit(async () => {
          // The other source may have read a new commit and own the object by now.
          if (declarations.isDeclaredElsewhere(source, objectIdentity(refOf(object)))) return;
          const problem = await deleteMember(api, object);
          if (problem !== undefined) {
            problems.push(problem);
            return;
          }
          written?.deleted(object);
          deleted.push(object);
          onDeleted(object);
        }),
      ),
    );
  return { deleted, problems };
}

async function deleteMember(api: KubeApi, object: KubeObject): Promise<SyncProblem | undefined> {
  try {
    const kind = await requiredKind(api, object);
    const { namespace = '', name, uid } = object.metadata;
    await api.delete(kind, { namespace, name }, { uid, propagationPolicy: 'Background' });
    return undefined;
  } catch (error) {
    if (!(error instanceof BerthError) || error instanceof LeaseNotHeldError) throw error;
    return syncProblemOf({ object }, error);
  }
}
