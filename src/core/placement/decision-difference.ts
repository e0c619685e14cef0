import type { ScheduleResult } from './schedule-result.ts';

/**
 * What separates two results of one placement for whoever writes PlacementDecisions. `scores`: the same clusters in the
 * same groups, but with `sortBy: Score` their scores or order differ; such a rewrite may wait for the placement's
 * scoreRateLimit. Without `sortBy: Score` scores are not written, so they never differ.
 */
export type DecisionDifference = 'none' | 'scores' | 'decisions';

export function differenceOf(before: ScheduleResult, after: ScheduleResult): DecisionDifference {
  if (!sameMembers(before, after)) return 'decisions';
  if (after.placement.spec?.sortBy !== 'Score' && before.placement.spec?.sortBy !== 'Score') return 'none';
  return sameOrderAndScores(before, after) ? 'none' : 'scores';
}

/** Score of every selected cluster, as `status.decisions[].score` tells it. */
export function scoresOfSelected({ selected, selectedScores }: ScheduleResult): ReadonlyMap<string, number> {
  return new Map(selected.map((name, at) => [name, selectedScores[at] as number]));
}

const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: MINUTE_MS, h: 60 * MINUTE_MS };

/** `scoreRateLimit` in milliseconds; absent means one minute. Undefined when the text is no duration like `30s` or `1m30s`. */
export function scoreRateLimitMs(text: string | undefined): number | undefined {
  if (text === undefined) return MINUTE_MS;
  if (text === '0') return 0;
  if (!/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g))
    total += Number(amount) * (UNIT_MS[unit] ?? 0);
  return total;
}

/** Groups with the same names hold the same clusters, whatever their order. Scores move clusters between equal groups. */
function sameMembers(before: ScheduleResult, after: ScheduleResult): boolean {
  const [left, right] = [membersByName(before), membersByName(after)];
  return left.length === right.length && left.every((line, at) => line === right[at]);
}

function membersByName({ groups }: ScheduleResult): string[] {
  const members = groups.flatMap(({ name, clusters }) => clusters.map((cluster) => `${name}\n${cluster}`));
  const shape = groups.map(({ index, name, clusters }) => `${index} ${name} ${clusters.length}`);
  return [...members.sort(), ...shape];
}

function sameOrderAndScores(before: ScheduleResult, after: ScheduleResult): boolean {
  const [left, right] = [scoresOfSelected(before), scoresOfSelected(after)];
  const order = (result: ScheduleResult): string[] => result.groups.flatMap(({ clusters }) => [...clusters]);
  const names = order(after);
  return order(before).every((name, at) => name === names[at] && left.get(name) === right.get(name));
}
