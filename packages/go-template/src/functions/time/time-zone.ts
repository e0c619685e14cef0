import { decode } from '../../text/bytes.ts';
import { spend } from '../../value/work.ts';
import type { Moment } from './moment.ts';
import { UNKNOWN_ZONE } from './moment.ts';

const UTC = { offset: 0, zone: 'UTC' } as const;

/**
 * A moment in a zone. If Go does not know the zone, the moment is in UTC. The zone Local of Argo CD
 * is UTC.
 */
export function inZone(moment: Moment, name: string): Moment {
  return { ...moment, ...(['', 'UTC', 'Local'].includes(name) ? UTC : zoneAt(moment, decode(name))) };
}

function zoneAt(moment: Moment, name: string): Pick<Moment, 'offset' | 'zone'> {
  // Only names of the zone database are valid. JavaScript also accepts offsets and any letter case.
  if (!/^[A-Z]/.test(name) || !/^[\w+\-/]+$/.test(name)) return UTC;
  // Formatting a date in a zone is slow in JavaScript.
  spend(2000);
  const at = new Date(Number(moment.seconds) * 1000);
  if (Number.isNaN(at.getTime())) return UTC;
  try {
    const offset = offsetAt(at, name);
    return { offset, zone: abbreviation(at, name, offset) };
  } catch {
    return UTC;
  }
}

function offsetAt(at: Date, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const text = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT([-+])(\d+):(\d+)(?::(\d+))?/.exec(text) ?? [];
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -offset : offset;
}

/** Each locale knows the names of zones that its readers use. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-IN', 'en-ZA', 'en-NZ', 'en-JP'];

/**
 * The name of the zone at that time, such as CEST, or `UNKNOWN_ZONE` if JavaScript knows only the
 * offset.
 */
function abbreviation(at: Date, timeZone: string, offset: number): string {
  if (offset === 0 && /^(Etc\/)?(UTC|UCT|Zulu|Universal)$/.test(timeZone)) return 'UTC';
  // Before time zones existed, each city had its own time.
  if (offset % 60 !== 0) return 'LMT';
  for (const locale of LOCALES) {
    const format = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' });
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    if (/^[A-Z]{3,5}$/.test(name)) return name;
  }
  return UNKNOWN_ZONE;
}
