import { parseGoDuration } from '@berth/kube/model/go-duration';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** The fields in order: minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = new Set(
  ['yearly', 'annually', 'monthly', 'weekly', 'daily', 'midnight', 'hourly'].map((word) => `@${word}`),
);

/**
 * Why a text is not a valid schedule of a CronJob, with the message of the parser that Kubernetes
 * uses; undefined for a valid one. Source of the rule: robfig/cron v3, ParseStandard.
 */
export function cronProblem(text: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s.exec(text);
  const schedule = zone?.[2] ?? text;
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const parts = schedule.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== FIELDS.length)
    return `expected exactly 5 fields, found ${String(parts.length)}: [${parts.join(' ')}]`;
  for (const [index, part] of parts.entries()) {
    const problem = fieldProblem(part, FIELDS[index] as Bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  const duration = text.slice('@every '.length);
  if (parseGoDuration(duration) !== undefined) return undefined;
  return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`;
}

function fieldProblem(field: string, bounds: Bounds): string | undefined {
  for (const range of field.split(',')) {
    const problem = range === '' ? undefined : rangeProblem(range, bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [values = '', stepText, ...slashes] = range.split('/');
  const ends = values.split('-');
  const limits = endsOf(ends, range, bounds);
  if (typeof limits === 'string') return limits;
  if (slashes.length > 0) return `too many slashes: ${range}`;
  const start = limits[0];
  let end = limits[1];
  if (stepText !== undefined) {
    const step = numberOf(stepText, range);
    if (typeof step === 'string') return step;
    if (ends.length === 1) end = bounds.max;
    if (step === 0) return `step of range should be a positive number: ${range}`;
  }
  if (start < bounds.min)
    return `beginning of range (${String(start)}) below minimum (${String(bounds.min)}): ${range}`;
  if (end > bounds.max)
    return `end of range (${String(end)}) above maximum (${String(bounds.max)}): ${range}`;
  if (start > end)
    return `beginning of range (${String(start)}) beyond end of range (${String(end)}): ${range}`;
  return undefined;
}

/** The two ends of a range, or its problem. */
function endsOf(
  ends: readonly string[],
  range: string,
  { min, max, names }: Bounds,
): readonly [number, number] | string {
  const [first = '', second] = ends;
  if (first === '*' || first === '?') return [min, max];
  const start = namedNumber(first, range, names, min);
  if (typeof start === 'string') return start;
  if (second === undefined) return [start, start];
  const end = namedNumber(second, range, names, min);
  if (typeof end === 'string') return end;
  return ends.length > 2 ? `too many hyphens: ${range}` : [start, end];
}

/**
 * A number, or the number of a name such as `jan`.
 * @param first the number of the first name
 * @returns the problem if it is neither
 */
function namedNumber(
  text: string,
  range: string,
  names: readonly string[] | undefined,
  first: number,
): number | string {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index >= 0 ? index + first : numberOf(text, range);
}

/**
 * The number, or its problem.
 * @param range the text that the problem names
 */
function numberOf(text: string, range: string): number | string {
  if (!/^[+-]?\d+$/.test(text)) {
    const quoted = JSON.stringify(text);
    return `failed to parse int from ${range}: strconv.Atoi: parsing ${quoted}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${String(number)}) not allowed: ${range}` : number;
}
