import type { AppliedManifestWork } from '@berth/ocm/kind/applied-manifest-work';
import { type AgentState, rfc3339 } from './agent-state.ts';
import { releaseApplied } from './release-applied.ts';
import { DONE, RETRY, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';

/** A grace period of this length or more means "forever". */
const NEVER_MS = 100 * 365 * 24 * 3_600_000;

/**
 * An AppliedManifestWork of ours whose ManifestWork is not on the hub (deleted by force, hub
 * restored from a backup, another hub). It is kept for a grace period from its first detection, in
 * case the work is created again.
 */
export async function evictApplied(
  state: AgentState,
  applied: AppliedManifestWork,
): Promise<ReconcileOutcome> {
  const { settings } = state;
  if (applied.spec.agentID !== settings.agentId) return DONE;
  if (applied.metadata.deletionTimestamp !== undefined)
    return (await releaseApplied(state, applied)) ? DONE : RETRY;
  if (settings.evictionGraceMs >= NEVER_MS) {
    await cancelEviction(state, applied);
    return DONE;
  }
  const nowMs = settings.clock.now();
  const started = applied.status?.evictionStartTime;
  if (started === undefined) {
    await state.writeAppliedStatus(applied, { ...applied.status, evictionStartTime: rfc3339(nowMs) });
    return { kind: 'requeue', afterMs: settings.evictionGraceMs };
  }
  const leftMs = Date.parse(started) + settings.evictionGraceMs - nowMs;
  if (leftMs > 0) return { kind: 'requeue', afterMs: leftMs };
  const work = applied.spec.manifestWorkName;
  settings.log.info('the ManifestWork is still missing, so its objects are deleted', {
    work,
    cluster: settings.clusterName,
  });
  if (!(await releaseApplied(state, applied))) return RETRY;
  settings.emit({ kind: 'evicted', cluster: settings.clusterName, work });
  return DONE;
}

/** The work has returned, so the grace period ends. */
export async function cancelEviction(
  state: AgentState,
  applied: AppliedManifestWork,
): Promise<AppliedManifestWork> {
  if (applied.status?.evictionStartTime === undefined) return applied;
  const { evictionStartTime: _cleared, ...status } = applied.status;
  return state.writeAppliedStatus(applied, status);
}
