import type { Inventory } from './inventory.ts';

/** Notes for the reader of a plan about the inventory that it uses. */
export function inventoryNote(
  { hub, engine, takenAt }: Pick<Inventory, 'hub' | 'engine' | 'takenAt'>,
  now: { readonly nowMs: number; readonly engine: string; readonly isVerified: boolean },
): string {
  const by = engine === now.engine ? `Berth ${engine}` : `Berth ${engine} (this is ${now.engine})`;
  const age = ageText(now.nowMs - Date.parse(takenAt));
  const unverified = now.isVerified ? '' : ' Its author was not verified: that needs --public-key.';
  return (
    `The plan uses the state of the hub ${age} ago, at ${takenAt}: an inventory of ${hub}, written by ${by}. It has no content of works, ` +
    `only those annotations that Berth reads, and no policies and webhooks of the hub.${unverified}`
  );
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `3 hours`: in whole units, so that a repeated plan has the same text for some time. */
function ageText(ageMs: number): string {
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(ageMs / unitMs);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'}`;
  }
  return 'less than a minute';
}
