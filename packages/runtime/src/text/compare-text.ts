/** Orders texts by UTF-16 code units, as `sort` without an argument does. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
