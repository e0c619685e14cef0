import pLimit from 'p-limit';
import { judgePullRemovals } from '../../../core/argocd/pull/judge-removals.ts';
import { planPull, type WorkToRemove } from '../../../core/argocd/pull/plan-pull.ts';
import { hubApplicationOf } from '../../../core/argocd/pull/pull-target.ts';
import { asApplication, type Application } from '../../../core/argocd/argo-application.ts';
import { APPLICATION } from '../../../core/argocd/argocd-kinds.ts';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { recentRemovals } from '../../../core/publish/judge/removal-window.ts';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { HeldRemovals } from './held-removals.ts';
import type { PullInventory } from './pull-inventory.ts';
import type { PullOptions } from './pull-options.ts';

export interface RemoveWorksOptions
  extends Pick<PullOptions, 'hub' | 'clock' | 'digest' | 'budget' | 'removals' | 'onWrite' | 'onHeld'> {
  readonly inventory: PullInventory;
  readonly held: HeldRemovals;
  /** Called when a hold of these Applications began or ended. */
  readonly onHoldChanged: (applications: Iterable<string>) => void;
}

/** Concurrent requests to the hub. */
const CONCURRENCY = 8;
/** Recent removals leave the window without an event. */
const HELD_RECHECK_MS = 60_000;

/** Removes the works of one group that no longer carry an Application: all of them, or none (see judgePullRemovals). */
export async function removeWorks(group: string, options: RemoveWorksOptions): Promise<ReconcileOutcome> {
  const { inventory, held, clock, removals, onHeld, onHoldChanged } = options;
  const nowMs = clock.now();
  const before = await removals.read(group);
  const leaving = await confirmedLeaving(group, options);
  const present = inventory
    .worksOfGroup(group)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  const replaced = leaving.filter(({ reason }) => reason === 'replaced').length;
  const verdict = judgePullRemovals({
    ...options,
    group,
    present: present - replaced,
    leaving,
    removals: before,
    nowMs,
  });
  const applications = new Set(leaving.map(({ work }) => hubApplicationOf(work) ?? ''));
  if (verdict.kind === 'held') {
    const { token, message } = verdict;
    if (held.hold({ group, token, message }, applications)) {
      onHeld?.({ group, token, message });
      onHoldChanged(applications);
    }
    return { kind: 'requeue', afterMs: HELD_RECHECK_MS };
  }
  onHoldChanged(held.release(group));
  if (verdict.counted > 0)
    await removals.persist(group, [
      ...recentRemovals(before, nowMs),
      { atMs: nowMs, count: verdict.counted },
    ]);
  await deleteAll(verdict.leaving, options);
  return DONE;
}

/** The works to remove, read from the hub and not from the cache, because they will be deleted. */
async function confirmedLeaving(
  group: string,
  { inventory, hub }: RemoveWorksOptions,
): Promise<readonly WorkToRemove[]> {
  const keys = new Set(inventory.worksOfGroup(group).map((work) => hubApplicationOf(work) ?? ''));
  const isOpen = (name: string): boolean => inventory.takesWork(name);
  const leavingOf = (key: string, application: Application | undefined): readonly WorkToRemove[] =>
    planPull({ application, works: inventory.worksOf(key), takesWork: isOpen }).leaving;
  const candidates = [...keys].filter((key) => leavingOf(key, inventory.application(key)).length > 0);
  const limit = pLimit(CONCURRENCY);
  const confirmed = candidates.map((key) =>
    limit(async () => {
      const [namespace = '', name = ''] = key.split('/');
      const live = await hub.get(APPLICATION, { namespace, name });
      return leavingOf(key, live === undefined ? undefined : asApplication(live));
    }),
  );
  return (await Promise.all(confirmed)).flat();
}

/**
 * One failure does not stop the others.
 * @throws the first error, after all were tried
 */
async function deleteAll(
  leaving: readonly WorkToRemove[],
  { hub, onWrite }: RemoveWorksOptions,
): Promise<void> {
  const limit = pLimit(CONCURRENCY);
  const results = await Promise.allSettled(
    leaving.map(({ work, reason }) =>
      limit(async () => {
        const { namespace = '', name, uid } = work.metadata;
        if (!(await hub.delete(MANIFEST_WORK, { namespace, name }, { uid }))) return;
        const application = hubApplicationOf(work) ?? '';
        onWrite?.({ action: 'deleted', application, cluster: namespace, work: name, reason });
      }),
    ),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
