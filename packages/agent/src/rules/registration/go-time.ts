/** A time as Go prints it, e.g. `2023-05-28 14:08:57 +0000 UTC`. Certificates have a precision of one second. */
export function goTime(epochMs: number): string {
  const [date = '', time = ''] = new Date(epochMs).toISOString().split('T');
  return `${date} ${time.slice(0, 8)} +0000 UTC`;
}
