/** RFC 3339, whole seconds, as conditions have it. */
export function statusTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
