/** A time in RFC 3339 with whole seconds, as in conditions. */
export function statusTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
