import { formatRef } from '@berth/kube/model/object-ref';
import { formatCount, formatDuration, formatMoment, formatNames, staggeredRollouts } from '../plan-text.ts';
import { HORIZON_HOURS, type Plan } from '../plan.ts';

/** Above the texts of later changes. */
export const LATER_TITLE = `Later, within ${HORIZON_HOURS} hours, if nothing else changes`;

const LATER_CAUSES = {
  tolerationSeconds: 'when its toleration of a taint ends (tolerationSeconds)',
  validUntil: 'when a score expires (validUntil)',
  lease: 'when an overdue lease runs out (leaseDurationSeconds)',
} as const;

/** `team-a/web leaves c1 one hour after the merge, when its toleration of a taint ends (tolerationSeconds)`, for each later change. */
export function laterTexts(plan: Pick<Plan, 'later' | 'rollouts'>): readonly string[] {
  return [...laterMoves(plan), ...laterRollouts(plan).map(({ text }) => text)];
}

function laterMoves({ later }: Pick<Plan, 'later'>): readonly string[] {
  return later.map(({ namespace, name, at, afterMs, ifSilent = [], ...change }) => {
    const { by, added, removed, kept, held } = change;
    const why = `${LATER_CAUSES[by]}${silentText(ifSilent)}`;
    const when =
      afterMs === undefined ? `at ${formatMoment(at ?? '')}` : `${formatSpan(afterMs)} after the merge`;
    const subject = `${namespace}/${name}`;
    if (kept.length > 0)
      return `${subject} stays on ${formatNames(kept, 5)}, which it would leave ${when} without the merge, ${why}`;
    const [leave, join] = held === undefined ? ['leaves', 'joins'] : ['leave', 'join'];
    const moves = [
      ...(removed.length === 0 ? [] : [`${leave} ${formatNames(removed, 5)}`]),
      ...(added.length === 0 ? [] : [`${join} ${formatNames(added, 5)}`]),
    ].join(' and ');
    return held === undefined
      ? `${subject} ${moves} ${when}, ${why}`
      : `${subject} would ${moves} ${when}, ${why}, and is held then: ${held}`;
  });
}

/** A rollout that is not complete at the merge. */
export interface LaterRollout {
  readonly text: string;
  /** Milliseconds from the merge until the last batch may start. */
  readonly endsAfterMs: number;
}

/** How many later batches a text names. */
const MAX_BATCHES = 3;

/** The batches that wait for the success of earlier ones. Agents report it, so each time is the earliest. */
export function laterRollouts(plan: Pick<Plan, 'rollouts'>): readonly LaterRollout[] {
  return staggeredRollouts(plan).flatMap(({ waves, moreWaves, shortestMs, problem, ...workload }) => {
    const soonMs = HORIZON_HOURS * 3_600_000;
    const next = waves.filter(({ startsAfterMs }) => startsAfterMs > 0 && startsAfterMs <= soonMs);
    const [second] = next;
    if (second === undefined || problem !== undefined) return [];
    const shown = next.slice(0, MAX_BATCHES);
    // The first batch starts at the merge, so the second one starts when it has succeeded for long enough.
    const soakMs = second.startsAfterMs;
    const endsAfterMs = shortestMs - soakMs;
    const batches = waves.length + moreWaves;
    const times = [
      ...shown.map(({ clusters, startsAfterMs }) => [formatNames(clusters, 5), startsAfterMs] as const),
      ...(batches > shown.length + 1 ? [[`the last of ${batches} batches`, endsAfterMs] as const] : []),
    ].map(
      ([what, ms], at) => `${what} at the earliest ${formatSpan(ms)} after ${at === 0 ? 'the merge' : 'it'}`,
    );
    const why = `each batch must first have succeeded for ${formatSpan(soakMs)} (minSuccessTime)`;
    return [{ text: `${formatRef(workload)} reaches ${times.join(', then ')}: ${why}`, endsAfterMs }];
  });
}

/**
 * What a plan said happens later and has not happened yet.
 * @param followedAtMs when the hub began to follow the merge, milliseconds since the epoch
 */
export function laterAhead(
  said: {
    readonly later?: Plan['later'] | undefined;
    readonly laterRollouts?: readonly LaterRollout[] | undefined;
  },
  followedAtMs: number,
  nowMs: number,
): readonly string[] {
  const { later = [], laterRollouts: rollouts = [] } = said;
  const moves = later.filter(
    ({ at, afterMs = 0 }) => (at === undefined ? followedAtMs + afterMs : Date.parse(at)) > nowMs,
  );
  const going = rollouts.filter(({ endsAfterMs }) => followedAtMs + endsAfterMs > nowMs);
  return [...laterMoves({ later: moves }), ...going.map(({ text }) => text)];
}

function silentText(clusters: readonly string[]): string {
  if (clusters.length === 0) return '';
  const agents = clusters.length === 1 ? 'the agent' : 'the agents';
  return `, if ${agents} of ${formatNames(clusters, 5)} ${clusters.length === 1 ? 'stays' : 'stay'} silent`;
}

/** `one hour`, `10 minutes`, `1h30m` */
function formatSpan(durationMs: number): string {
  const units = [
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  const whole = units.find(([, unitMs]) => durationMs >= unitMs && durationMs % unitMs === 0);
  if (whole === undefined) return formatDuration(durationMs);
  const [noun, unitMs] = whole;
  return durationMs === unitMs ? `one ${noun}` : formatCount(durationMs / unitMs, noun);
}
