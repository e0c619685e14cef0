const UNIT_NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
const MAX_NANOSECONDS = 2 ** 63;

/** Go's time.ParseDuration (`1h30m`, `1.5s`, `-5m`, `0`), in milliseconds; undefined when the text is not a duration. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0;
  if (rest === '') return undefined;
  let nanoseconds = 0;
  for (PART.lastIndex = 0; PART.lastIndex < rest.length; ) {
    const part = PART.exec(rest);
    if (part === null) return undefined;
    nanoseconds += Number(part[1]) * (UNIT_NANOSECONDS[part[2] as string] as number);
  }
  return nanoseconds < MAX_NANOSECONDS ? (sign * nanoseconds) / 1e6 : undefined;
}
