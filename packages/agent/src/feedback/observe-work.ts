import type { ManifestCondition, ManifestWork, ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import { observedStatus, wasApplied } from '../rules/feedback/observed-status.ts';
import type { AgentState } from '../state/agent-state.ts';
import { missingNamespaces } from '../apply/missing-namespaces.ts';
import type { ManifestResult } from '../apply/apply-manifests.ts';
import type { WatchedObject } from '../cluster/live-objects.ts';
import { observeObjects } from './observe-objects.ts';
import { objectAddress, type ReadAccess, reviewReadAccess } from '../executor/review-read-access.ts';

/** The result of observing a work's objects. */
export interface WorkObservation {
  /** Contains Available, feedback and rule conditions as the cluster shows them now. */
  readonly status: ManifestWorkStatus;
  /** The observed objects that the work's executor may get. */
  readonly watched: readonly WatchedObject[];
  /**
   * Result of the access checks of the executor: `denied` is checked again after a minute,
   * `unknown` (no response) soon.
   */
  readonly rights: 'known' | 'unknown' | 'denied';
}

/**
 * Observes the objects of a work, except those that its executor may not get.
 * @param justApplied results of this pass, whose objects need not be read again
 */
export async function observeWork(
  state: AgentState,
  work: ManifestWork,
  status: ManifestWorkStatus,
  justApplied: readonly ManifestResult[] = [],
): Promise<WorkObservation> {
  const entries = status.resourceStatus?.manifests ?? [];
  if (!wasApplied(status)) return { status, watched: addressesOf(entries), rights: 'known' };
  const { settings, live } = state;
  const spec = work.spec ?? {};
  const access = await reviewReadAccess(state.reviews, spec.executor, entries);
  const watched = addressesOf(entries.filter((_entry, index) => access[index]?.kind === 'allowed'));
  live.setInterest(work.metadata.name, [...watched, ...missingNamespaces(justApplied)]);
  // Uses the response of the apply while the watch is not established.
  const known = new Map(
    justApplied.flatMap(({ task, outcome }) =>
      outcome.kind === 'applied' && outcome.object !== undefined
        ? [[task.meta.ordinal, outcome.object] as const]
        : [],
    ),
  );
  const observations = await observeObjects({ settings, live, spec, entries, known, access });
  const moment = { generation: work.metadata.generation ?? 0, now: state.now() };
  return {
    status: observedStatus(status, observations, moment),
    watched,
    rights: rightsIn(access),
  };
}

function rightsIn(access: readonly ReadAccess[]): WorkObservation['rights'] {
  if (access.some(({ kind }) => kind === 'failed')) return 'unknown';
  return access.some(({ kind }) => kind === 'denied') ? 'denied' : 'known';
}

function addressesOf(entries: readonly ManifestCondition[]): readonly WatchedObject[] {
  return entries.flatMap(({ resourceMeta }) => objectAddress(resourceMeta) ?? []);
}
