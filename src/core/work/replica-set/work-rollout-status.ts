import { resolveManifestConfig } from '@berth/ocm/kind/manifest-config';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestCondition, ManifestWork, FieldValue } from '@berth/ocm/kind/manifest-work';
import type { RolloutRules, RolloutStatus } from '../../rollout/rollout-plan.ts';

export interface WorkProgress {
  readonly status: RolloutStatus;
  readonly lastTransitionMs: number | undefined;
  /** The reason, for users. */
  readonly reason: string;
  /** Until then, a failure is no verdict: the agent may still be applying the content. Milliseconds since the epoch. */
  readonly unconfirmedUntilMs?: number | undefined;
}

/**
 * How long `Applied` must have been False for the current generation until that is a failure. An agent tries again at
 * once, and its first answers may be about a namespace, a webhook or a definition that comes a moment later.
 */
const CONFIRM_MS = 5_000;

/** When the current content of a work was written (RFC 3339). The rollout deadline of an unreachable cluster starts then. */
export const ROLLED_OUT_AT_ANNOTATION = 'berth.dev/rolled-out-at';

/**
 * The rollout progress of one cluster. With a Progressing rule in the work, both sets of rules have
 * the upstream result. Without one, the result is always ToApply upstream; Berth derives it from
 * Applied, Available, Degraded and the feedback of well-known workloads.
 */
export function workProgress(work: ManifestWork, rules: RolloutRules): WorkProgress {
  const byRule = progressByRule(work);
  return rules === 'upstream' || findCondition(work.status?.conditions, 'Progressing') !== undefined
    ? afterWriting(work, byRule, rules)
    : deriveProgress(work);
}

function progressByRule(work: ManifestWork): WorkProgress {
  const applied = current(work, 'Applied');
  const progressing = current(work, 'Progressing');
  const degraded = findCondition(work.status?.conditions, 'Degraded');
  if (applied?.status !== 'True') return toApply('not applied yet');
  if (progressing === undefined) return toApply('no current Progressing condition');
  if (degraded !== undefined && degraded.observedGeneration !== work.metadata.generation)
    return toApply('Degraded is of an older generation');
  if (progressing.status === 'False') return progress('Succeeded', progressing, 'Progressing is False');
  if (progressing.status === 'True' && degraded?.status === 'True')
    return progress('Failed', degraded, degraded.message);
  return progress('Progressing', progressing, progressing.message);
}

/**
 * Berth's rules: content that was written but not confirmed is in progress, so that a cluster that
 * never responds times out. No time is before the write: a condition that stays False over a change
 * keeps its old time, so minSuccessTime would count from the previous version.
 */
function afterWriting(work: ManifestWork, byRule: WorkProgress, rules: RolloutRules): WorkProgress {
  if (rules === 'upstream') return byRule;
  const since = contentSinceMs(work);
  if (byRule.status === 'ToApply')
    return deriveUnconfirmed(work) ?? { ...byRule, status: 'Progressing', lastTransitionMs: since };
  return { ...byRule, lastTransitionMs: Math.max(byRule.lastTransitionMs ?? 0, since ?? 0) };
}

/** When the cluster got the current content, if known. */
function contentSinceMs(work: ManifestWork): number | undefined {
  const times = [writtenMs(work) ?? 0, ...manifestTimes(work, 'Applied')].filter((time) => time > 0);
  return times.length === 0 ? undefined : Math.max(...times);
}

function deriveProgress(work: ManifestWork): WorkProgress {
  const unconfirmed = deriveUnconfirmed(work);
  if (unconfirmed !== undefined) return unconfirmed;
  const since = contentSinceMs(work);
  const degraded = current(work, 'Degraded');
  if (degraded?.status === 'True') return progress('Failed', degraded, degraded.message);
  const available = current(work, 'Available');
  if (available?.status !== 'True')
    return {
      status: 'Progressing',
      lastTransitionMs: since,
      reason: available?.message ?? 'not available yet',
    };
  const workloads = readWorkloads(work);
  if (workloads.failed !== undefined)
    return { status: 'Failed', lastTransitionMs: since, reason: workloads.failed };
  if (workloads.waiting !== undefined)
    return { status: 'Progressing', lastTransitionMs: since, reason: workloads.waiting };
  const times = [since ?? 0, timeOf(available) ?? 0, ...manifestTimes(work, 'StatusFeedbackSynced')];
  return { status: 'Succeeded', lastTransitionMs: Math.max(...times), reason: 'available' };
}

/** The status while the cluster has not confirmed the current content; undefined after it has. */
function deriveUnconfirmed(work: ManifestWork): WorkProgress | undefined {
  const applied = current(work, 'Applied');
  if (applied === undefined)
    return {
      status: 'Progressing',
      lastTransitionMs: writtenMs(work),
      reason: 'waiting for the cluster to apply it',
    };
  if (applied.status === 'True') return undefined;
  const failed = work.status?.resourceStatus?.manifests?.find(
    ({ conditions }) => findCondition(conditions, 'Applied')?.status === 'False',
  );
  const reason = findCondition(failed?.conditions, 'Applied')?.message ?? applied.message;
  const since = timeOf(applied) ?? writtenMs(work);
  const unconfirmedUntilMs = since === undefined ? undefined : since + CONFIRM_MS;
  return { status: 'Failed', lastTransitionMs: since, reason, unconfirmedUntilMs };
}

/** A condition for the work's current generation. */
function current(work: ManifestWork, type: string): Condition | undefined {
  const condition = findCondition(work.status?.conditions, type);
  return condition?.observedGeneration === work.metadata.generation ? condition : undefined;
}

function manifestTimes(work: ManifestWork, type: string): readonly number[] {
  const manifests: readonly ManifestCondition[] = work.status?.resourceStatus?.manifests ?? [];
  return manifests.map(({ conditions }) => timeOf(findCondition(conditions, type)) ?? 0);
}

function writtenMs(work: ManifestWork): number | undefined {
  const annotated = Date.parse(work.metadata.annotations?.[ROLLED_OUT_AT_ANNOTATION] ?? '');
  if (!Number.isNaN(annotated)) return annotated;
  const created = Date.parse(work.metadata.creationTimestamp ?? '');
  return Number.isNaN(created) || (work.metadata.generation ?? 1) > 1 ? undefined : created;
}

function timeOf(condition: Condition | undefined): number | undefined {
  const time = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function progress(status: RolloutStatus, condition: Condition, reason: string): WorkProgress {
  return { status, lastTransitionMs: timeOf(condition), reason };
}

function toApply(reason: string): WorkProgress {
  return { status: 'ToApply', lastTransitionMs: undefined, reason };
}

interface WorkloadReadiness {
  /** Why the work is not ready yet; undefined if it is. */
  readonly waiting: string | undefined;
  readonly failed: string | undefined;
}

/**
 * Reads readiness from the well-known feedback of a work (ReadyReplicas, NumberReady, JobComplete,
 * PodReady …). Manifests without feedback are ready when they exist.
 */
function readWorkloads(work: ManifestWork): WorkloadReadiness {
  const verdicts = (work.status?.resourceStatus?.manifests ?? []).map((manifest) =>
    readManifest(
      manifest,
      work.spec?.workload?.manifests?.[manifest.resourceMeta.ordinal],
      asksForStatus(work, manifest),
    ),
  );
  return {
    waiting: verdicts.find(({ waiting }) => waiting !== undefined)?.waiting,
    failed: verdicts.find(({ failed }) => failed !== undefined)?.failed,
  };
}

/** A workload without a status gives no values, so this checks whether values are requested. */
function asksForStatus(work: ManifestWork, manifest: ManifestCondition): boolean {
  const config = resolveManifestConfig(work.spec?.manifestConfigs ?? [], manifest.resourceMeta);
  return config.feedbackRules.some(({ type }) => type === 'WellKnownStatus');
}

function readManifest(
  status: ManifestCondition,
  manifest: KubeObject | undefined,
  asked: boolean,
): WorkloadReadiness {
  const values = new Map(
    (status.statusFeedback?.values ?? []).map(({ name, fieldValue }) => [name, fieldValue]),
  );
  const { kind = '', namespace = '', name = '' } = status.resourceMeta;
  const id = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
  if (text(values.get('PodPhase')) === 'Failed') return { waiting: undefined, failed: `${id} has failed` };
  const waiting = asked ? waitingFor(kind, values, manifest) : undefined;
  return { waiting: waiting === undefined ? undefined : `${id}: ${waiting}`, failed: undefined };
}

type Values = ReadonlyMap<string, FieldValue>;

function waitingFor(kind: string, values: Values, manifest: KubeObject | undefined): string | undefined {
  switch (kind) {
    case 'Deployment': {
      const desired = desiredReplicas(manifest);
      return shortfall('ready', values.get('ReadyReplicas'), desired) ?? updatedShortfall(values, desired);
    }
    case 'DaemonSet':
      return shortfall(
        'ready',
        values.get('NumberReady'),
        values.get('DesiredNumberScheduled')?.integer ?? 0,
      );
    case 'Job':
      return text(values.get('JobComplete')) === 'True' ? undefined : 'not complete';
    case 'Pod':
      return text(values.get('PodReady')) === 'True' || text(values.get('PodPhase')) === 'Succeeded'
        ? undefined
        : 'not ready';
    default:
      return undefined;
  }
}

/**
 * Only if a rule reads `UpdatedReplicas`, which distinguishes new pods from those of the previous
 * version.
 */
function updatedShortfall(values: Values, desired: number): string | undefined {
  return values.has('UpdatedReplicas')
    ? shortfall('updated', values.get('UpdatedReplicas'), desired)
    : undefined;
}

function shortfall(
  what: string,
  value: FieldValue | undefined,
  desired: number | bigint,
): string | undefined {
  const got = value?.integer ?? 0;
  return got < desired ? `${got} of ${desired} ${what}` : undefined;
}

function desiredReplicas(manifest: KubeObject | undefined): number {
  const replicas = (manifest?.['spec'] as { replicas?: unknown } | undefined)?.replicas;
  return typeof replicas === 'number' ? replicas : 1;
}

function text(value: FieldValue | undefined): string | undefined {
  return value?.string;
}
