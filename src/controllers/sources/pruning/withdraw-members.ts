import { BerthError, ConflictError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { type WithdrawnObject } from '../../../core/sync/applied/departure.ts';
import { FIELD_MANAGER, WITHDRAWN_MANAGER } from '../../../core/sync/applied/field-manager.ts';
import { headOf, planWithdrawal } from '../../../core/sync/applied/plan-withdrawal.ts';
import { APPLY_SET_PART_OF_LABEL } from '../../../core/sync/apply-set.ts';
import { LeaseNotHeldError } from '@berth/kube/leader-election/lease-not-held-error';
import { readOne } from '../members/read-one.ts';
import { requiredKind } from '../members/required-kind.ts';
import { type SyncProblem, syncProblemOf } from '../members/sync-problem.ts';
import type { DeleteMembersParts } from './delete-members.ts';

export interface WithdrawParts extends Omit<DeleteMembersParts, 'written'> {
  readonly written?: { readonly applied: (live: KubeObject) => void } | undefined;
}

export interface WithdrawnMembers {
  readonly withdrawn: readonly KubeObject[];
  readonly problems: readonly SyncProblem[];
}

/** The status of a cluster changes all the time, so that a write may come too late several times. */
const MAX_TRIES = 10;

/** Takes off what Git applied. The objects stay, and are no members of the source any more. */
export async function withdrawMembers(
  { api, source, claims, limit, written }: WithdrawParts,
  objects: readonly WithdrawnObject[],
  onWithdrawn: (one: WithdrawnObject) => void,
): Promise<WithdrawnMembers> {
  const problems: SyncProblem[] = [];
  const withdrawn: KubeObject[] = [];
  await Promise.all(
    objects.map((one) =>
      limit(async () => {
        const { object } = one;
        // The other source may have read a new commit and own the object by now.
        if (claims.isDeclaredElsewhere(source, objectIdentity(refOf(object)))) return;
        try {
          const after = await withdraw(api, object);
          if (after !== undefined) written?.applied(after);
        } catch (error) {
          if (!(error instanceof BerthError) || error instanceof LeaseNotHeldError) throw error;
          problems.push(syncProblemOf({ object }, error));
          return;
        }
        withdrawn.push(object);
        onWithdrawn(one);
      }),
    ),
  );
  return { withdrawn, problems };
}

/** @returns the object as it is now; undefined if it is gone, or belongs to others by now */
async function withdraw(api: KubeApi, listed: KubeObject): Promise<KubeObject | undefined> {
  const kind = await requiredKind(api, listed);
  let live: KubeObject | undefined = listed;
  for (let tries = 1; live !== undefined; tries++)
    try {
      return await applyNothing(api, kind, live);
    } catch (error) {
      if (!(error instanceof ConflictError) || tries === MAX_TRIES) throw error;
      live = await readMember(api, kind, listed);
    }
  return undefined;
}

async function applyNothing(api: KubeApi, kind: KindInfo, live: KubeObject): Promise<KubeObject> {
  const { kept } = planWithdrawal(live);
  if (kept !== undefined) {
    const { resourceVersion } = live.metadata;
    const sent = { ...kept, metadata: { ...kept.metadata, resourceVersion } };
    await api.apply(kind, sent, { fieldManager: WITHDRAWN_MANAGER, force: true });
  }
  return api.apply(kind, headOf(live), { fieldManager: FIELD_MANAGER, force: true });
}

async function readMember(
  api: KubeApi,
  kind: KindInfo,
  { metadata }: KubeObject,
): Promise<KubeObject | undefined> {
  const now = await readOne(api, kind, { metadata });
  const isSame = (key: string): boolean => now?.metadata.labels?.[key] === metadata.labels?.[key];
  return now?.metadata.uid === metadata.uid && isSame(APPLY_SET_PART_OF_LABEL) ? now : undefined;
}
