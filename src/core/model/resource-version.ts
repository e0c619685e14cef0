/** Is one resource version newer than the other? False where one of them is no decimal number: only those are ordered (KEP-5504). */
export function isNewerResourceVersion(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return BigInt(version) > BigInt(than);
}
