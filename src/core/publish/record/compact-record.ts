import { jsonEqual } from '@berth/runtime/json/json-equal';
import { addSpentCode, type Digest } from '../approval/approval-code.ts';
import type { PublishState } from '../judge/publish-state.ts';
import { recentRemovals, type Removal } from '../judge/removal-budget.ts';
import type { DecisionRecord } from './decision-record.ts';

/**
 * Name of the ConfigMap with the records of a namespace. Each namespace with published decisions
 * has its own, so that users who may read the namespace may read its history.
 */
export const RECORDS_NAME = 'berth-records';
/** Label of these ConfigMaps, so that one list request finds them all. */
export const RECORDS_LABEL = 'berth.dev/records';

/**
 * A record without its inputs and without the text of the decision, so that a hub can store it.
 * Plain JSON.
 */
export interface CompactRecord
  extends Pick<
    DecisionRecord,
    | 'hash'
    | 'placement'
    | 'spec'
    | 'publishedAt'
    | 'engineVersion'
    | 'commit'
    | 'inventoryRevision'
    | 'inputs'
    | 'clusters'
    | 'released'
    | 'afterRestart'
    | 'counts'
  > {
  /** SHA-256 of the text of the decision. A replay must give the same text. */
  readonly decidedSha256: string;
  readonly added: NameSummary;
  readonly removed: NameSummary;
}

export interface NameSummary {
  readonly count: number;
  /** The first ones. */
  readonly names: readonly string[];
}

const MAX_NAMES = 20;
const MAX_SUBJECT_CHARS = 120;

export function compactRecord(digest: Digest, record: DecisionRecord): CompactRecord {
  const { hash, placement, spec, publishedAt, engineVersion, commit, inventoryRevision } = record;
  return {
    hash,
    placement,
    ...(spec !== undefined && { spec }),
    publishedAt,
    engineVersion,
    commit: commit && { ...commit, subject: commit.subject.slice(0, MAX_SUBJECT_CHARS) },
    inventoryRevision,
    inputs: record.inputs,
    decidedSha256: digest(record.decided),
    clusters: record.clusters,
    added: summarize(record.added),
    removed: summarize(record.removed),
    released: record.released,
    ...(record.afterRestart && { afterRestart: true }),
    ...(record.counts && { counts: true }),
  };
}

/** The first names of a list, and how many there are. */
export function summarize(names: readonly string[]): NameSummary {
  return { count: names.length, names: names.slice(0, MAX_NAMES) };
}

/** Limits of the records of one namespace. The newest records stay. */
export interface RecordLimits {
  readonly perPlacement: number;
  readonly records: number;
  readonly chars: number;
}

/** The default limits. A ConfigMap may hold 1 MiB; these limits leave room. */
export const RECORD_LIMITS: RecordLimits = { perPlacement: 20, records: 500, chars: 512 * 1024 };

/**
 * The change of the data of a ConfigMap that adds records and drops those beyond the limits. It
 * maps each key to its text, and null removes a key. Keys sort by time. Adding the same records
 * again changes nothing, so a write whose response was lost can be repeated.
 */
export function planRecordData(
  present: Readonly<Record<string, string>>,
  fresh: readonly CompactRecord[],
  limits: RecordLimits = RECORD_LIMITS,
): Readonly<Record<string, string | null>> {
  const all = new Map(Object.entries(present));
  for (const record of fresh) all.set(recordKey(record), JSON.stringify(record));
  const perPlacement = new Map<string, number>();
  const kept = new Set<string>();
  let chars = 0;
  for (const key of [...all.keys()].sort().reverse()) {
    const text = all.get(key) ?? '';
    const placement = parseRecord(text)?.placement;
    // Entries that are not records are removed.
    if (placement === undefined) continue;
    const count = (perPlacement.get(placement) ?? 0) + 1;
    perPlacement.set(placement, count);
    if (count > limits.perPlacement || kept.size >= limits.records) continue;
    chars += key.length + text.length;
    if (chars > limits.chars) break;
    kept.add(key);
  }
  const changes = [...all].filter(([key, text]) => !kept.has(key) || present[key] !== text);
  return Object.fromEntries(
    changes
      .filter(([key]) => kept.has(key) || key in present)
      .map(([key, text]) => [key, kept.has(key) ? text : null]),
  );
}

/**
 * The records that the hub does not have yet. After a start the controller makes records for
 * publications on the hub that its disk does not record. The hub may already have such a record: a
 * killed process wrote it to the hub before it wrote its disk, or another controller published and
 * this disk is new.
 */
export function selectNewRecords(
  present: Readonly<Record<string, string>>,
  fresh: readonly CompactRecord[],
): readonly CompactRecord[] {
  if (!fresh.some(({ afterRestart }) => afterRestart === true)) return fresh;
  const newest = new Map(recordsOf(present).map((record) => [record.placement, record]));
  return fresh.filter((record) => {
    const last = newest.get(record.placement);
    return record.afterRestart !== true || last === undefined || !isRecorded(record, last);
  });
}

/** Whether the last record on the hub already contains a record that was made after a restart. */
function isRecorded(record: CompactRecord, last: CompactRecord): boolean {
  if (record.clusters !== last.clusters) return false;
  const isWithoutPast = record.removed.count === 0 && record.added.count === record.clusters;
  const changeOf = ({ added, removed }: CompactRecord): unknown => ({ added, removed });
  return isWithoutPast || jsonEqual(changeOf(record), changeOf(last));
}

/** The valid records, oldest first. */
export function recordsOf(data: Readonly<Record<string, string>>): readonly CompactRecord[] {
  return Object.keys(data)
    .sort()
    .flatMap((key) => parseRecord(data[key] ?? '') ?? []);
}

function recordKey({ publishedAt, hash }: CompactRecord): string {
  return `${publishedAt.replace(/[^0-9TZ]/g, '')}.${hash}`;
}

function parseRecord(text: string): CompactRecord | undefined {
  try {
    const record = JSON.parse(text) as CompactRecord | null;
    return typeof record?.placement === 'string' && typeof record.hash === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The part of a record that says what counts toward the budget. */
export type CountedRecord = Pick<
  CompactRecord,
  'spec' | 'publishedAt' | 'released' | 'afterRestart' | 'counts'
> & { readonly removed: { readonly count: number } };

/**
 * The state of a placement that another process published, from the records on the hub. It says
 * which removals count toward the budget and which releases are used. Removals under an earlier
 * spec do not count. Records of earlier releases of Berth name no spec; they count as records of
 * the current spec. Removals of an `afterRestart` record count only if the record has `counts`.
 *
 * @param records the records of the placement, oldest first
 * @returns undefined when there is no valid record
 */
export function stateFromRecords(
  records: readonly CountedRecord[],
  now: {
    readonly specHash: string;
    readonly nowMs: number;
    /**
     * Creation time of the placement (RFC 3339). Records of an earlier placement with the same name
     * are ignored.
     */
    readonly createdAt?: string | null | undefined;
  },
): PublishState | undefined {
  const sinceMs = now.createdAt == null ? -Infinity : Date.parse(now.createdAt);
  const usable = records.filter((record) => isValid(record) && !(Date.parse(record.publishedAt) < sinceMs));
  const newest = usable.at(-1);
  if (newest === undefined) return undefined;
  let removals: readonly Removal[] = [];
  let spent: readonly string[] | undefined;
  let specOfRemovals: string | undefined;
  for (const { spec = now.specHash, publishedAt, removed, released, afterRestart, counts } of usable) {
    const count = removed.count;
    if (spec !== specOfRemovals) removals = [];
    specOfRemovals = spec;
    // A release resets the removals.
    if (released != null) {
      removals = [];
      spent = addSpentCode(spent, released.token);
    } else if (count > 0 && (afterRestart !== true || counts === true))
      removals = [...removals, { atMs: Date.parse(publishedAt), count }];
  }
  return {
    specHash: newest.spec ?? now.specHash,
    publishedAtMs: Date.parse(newest.publishedAt),
    removals: recentRemovals(removals, now.nowMs),
    spent,
    recalled: true,
  };
}

/** Whether the fields of a record are valid. Other programs may change the ConfigMap. */
function isValid({ publishedAt, removed, released }: Partial<CountedRecord>): boolean {
  const isReleaseValid = released == null || typeof released.token === 'string';
  return (
    !Number.isNaN(Date.parse(publishedAt ?? '')) && Number.isSafeInteger(removed?.count) && isReleaseValid
  );
}
