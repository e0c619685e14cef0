import { jsonEqual } from '@berth/runtime/json/json-equal';

type Fields = Readonly<Record<string, unknown>>;

/** Time fields, which are not compared: they only record when other fields changed. */
const TIMES = new Set([
  'lastTransitionTime',
  'lastUpdateTime',
  'lastProbeTime',
  'startTime',
  'completionTime',
]);

/** The merge patch from the current to the wanted status; undefined if only times differ. */
export function statusPatch(current: unknown, wanted: Fields): Fields | undefined {
  const before = (current ?? {}) as Fields;
  if (jsonEqual(withoutTimes(before), withoutTimes(wanted))) return undefined;
  const gone = Object.keys(before).filter((key) => wanted[key] === undefined);
  return { ...wanted, ...Object.fromEntries(gone.map((key) => [key, null])) };
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !TIMES.has(key))
      .map(([key, item]) => [key, withoutTimes(item)]),
  );
}
