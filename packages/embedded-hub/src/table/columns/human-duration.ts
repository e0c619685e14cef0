const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const YEAR_DAYS = 365;

/** An age in the short form of kubectl: `45s`, `5m30s`, `3h`, `7d4h`, `2y100d`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${String(seconds)}s`;
  if (seconds < 10 * MINUTE) return two(seconds, [MINUTE, 'm'], [1, 's']);
  if (seconds < 3 * HOUR) return `${String(Math.floor(seconds / MINUTE))}m`;
  if (seconds < 8 * HOUR) return two(seconds, [HOUR, 'h'], [MINUTE, 'm']);
  if (seconds < 2 * DAY) return `${String(Math.floor(seconds / HOUR))}h`;
  if (seconds < 8 * DAY) return two(seconds, [DAY, 'd'], [HOUR, 'h']);
  if (seconds < 2 * YEAR_DAYS * DAY) return `${String(Math.floor(seconds / DAY))}d`;
  if (seconds < 8 * YEAR_DAYS * DAY) return two(seconds, [YEAR_DAYS * DAY, 'y'], [DAY, 'd']);
  return `${String(Math.floor(seconds / (YEAR_DAYS * DAY)))}y`;
}

type Unit = readonly [size: number, letter: string];

function two(seconds: number, [big, bigLetter]: Unit, [small, smallLetter]: Unit): string {
  const rest = Math.floor((seconds % big) / small);
  const head = `${String(Math.floor(seconds / big))}${bigLetter}`;
  return rest === 0 ? head : `${head}${String(rest)}${smallLetter}`;
}

/** Age of an RFC 3339 time; `<unknown>` when there is none. */
export function ageText(time: unknown, now: number): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  const since = Date.parse(time);
  return Number.isNaN(since) ? '<invalid>' : humanDuration(now - since);
}
