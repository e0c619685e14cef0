/** `10 minutes`, `minute`, `90 seconds`: to follow "the". */
export function durationText(ms: number): string {
  const [count, unit] = ms % 60_000 === 0 ? [ms / 60_000, 'minute'] : [ms / 1_000, 'second'];
  return count === 1 ? unit : `${count} ${unit}s`;
}
