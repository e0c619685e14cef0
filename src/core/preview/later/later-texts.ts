import { formatRef } from '@berth/kube/model/object-ref';
import { formatCount, formatDuration, formatMoment, formatNames, staggeredRollouts } from '../plan-text.ts';
import type { RolloutForecast } from '../effects/plan-effects.ts';
import { HORIZON_HOURS, type LaterAddOn, type Plan } from '../plan.ts';

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
  return later.map(({ namespace, name, at, afterMs, ifSilent = [], addOns = [], ...change }) => {
    const { by, added, removed, kept, held } = change;
    const why = `${LATER_CAUSES[by]}${silentText(ifSilent)}`;
    const when =
      afterMs === undefined ? `at ${formatMoment(at ?? '')}` : `${formatSpan(afterMs)} after the merge`;
    const subject = `${namespace}/${name}`;
    if (kept.length > 0)
      return `${subject} stays on ${formatNames(kept, 5)}, which it would leave ${when} without the merge, ${why}`;
    const [leave, join] = held === undefined ? ['leaves', 'joins'] : ['leave', 'join'];
    const moves = movesText({ added, removed }, [leave, join]);
    return held === undefined
      ? `${subject} ${moves} ${when}, ${why}${addOns.map(addOnText).join('')}`
      : `${subject} would ${moves} ${when}, ${why}, and is held then: ${held}`;
  });
}

/** `leaves c1 and joins c2` */
function movesText(
  { added, removed }: Pick<LaterAddOn, 'added' | 'removed'>,
  [leave, join]: readonly [leave: string, join: string],
): string {
  return [
    ...(removed.length === 0 ? [] : [`${leave} ${formatNames(removed, 5)}`]),
    ...(added.length === 0 ? [] : [`${join} ${formatNames(added, 5)}`]),
  ].join(' and ');
}

/** `; add-on mesh leaves c1, too` */
function addOnText({ name, held, ...moves }: LaterAddOn): string {
  return held === true
    ? `; add-on ${name} would ${movesText(moves, ['leave', 'join'])}, too, and is held then`
    : `; add-on ${name} ${movesText(moves, ['leaves', 'joins'])}, too`;
}

/** A rollout that is not complete at the merge. */
export interface LaterRollout {
  readonly text: string;
  /** Milliseconds from the merge until the last of it may happen, if no agent is late. */
  readonly endsAfterMs: number;
}

/** How many later batches a text names. */
const MAX_BATCHES = 3;

const HORIZON_MS = HORIZON_HOURS * 3_600_000;

/** What time does in rollouts. Agents report success, so each time is the earliest. */
export function laterRollouts(plan: Pick<Plan, 'rollouts'>): readonly LaterRollout[] {
  return staggeredRollouts(plan)
    .filter(({ problem }) => problem === undefined)
    .flatMap((forecast) => [...laterBatches(forecast), ...laterFailures(forecast)]);
}

/** The batches that wait for the success of earlier ones. */
function laterBatches({
  waves,
  moreWaves,
  shortestMs,
  ...workload
}: RolloutForecast): readonly LaterRollout[] {
  const next = waves.filter(({ startsAfterMs }) => startsAfterMs > 0 && startsAfterMs <= HORIZON_MS);
  const [second] = next;
  if (second === undefined) return [];
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
}

/** When clusters count as failed, and what that stops. */
function laterFailures(forecast: RolloutForecast): readonly LaterRollout[] {
  const { waves, moreWaves, shortestMs, deadlineMs = Infinity, ...workload } = forecast;
  const [first] = waves;
  if (first === undefined || deadlineMs > HORIZON_MS) return [];
  const isOnly = waves.length + moreWaves === 1;
  const span = formatSpan(deadlineMs);
  const names = `${formatNames(first.clusters, 5)} as failed unless ${first.clusters.length === 1 ? 'it has' : 'they have'}`;
  const others = isOnly ? '' : `, and later batches ${span} after their start`;
  const stops = isOnly ? '' : `; when ${tooManyText(forecast)} failed, nothing new starts (maxFailures)`;
  const text = `${formatRef(workload)} counts ${names} succeeded ${span} after the merge${others} (progressDeadline)${stops}`;
  return [{ text, endsAfterMs: shortestMs + deadlineMs }];
}

/** `more than 1 of a group has`, `one of a mandatory group or more than 10% have` */
function tooManyText({ strategy, maxFailures = '0', hasMandatoryGroups }: RolloutForecast): string {
  if (maxFailures === '0') return 'one has';
  const among = strategy === 'ProgressivePerGroup' ? ' of a group' : '';
  const first = hasMandatoryGroups === true ? 'one of a mandatory group or ' : '';
  return `${first}more than ${maxFailures}${among} ${maxFailures === '1' ? 'has' : 'have'}`;
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
