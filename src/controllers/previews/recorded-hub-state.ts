import { BerthError, errorText } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { type CompactRecord, RECORDS_LABEL, recordsOf } from '../../core/publish/record/compact-record.ts';
import { parentOfSource } from '../../core/sync/apply-set.ts';
import { dataOf } from '../publication/hub-records.ts';
import { groupBy } from '@berth/runtime/lists/group-by';

/** A part that cannot be read. `problem` says why. */
interface Unknown {
  readonly problem: string;
}

/** What the hub remembers of a source's deletions and their releases: the annotations of its ApplySet parent. */
export type RecordedDeletions = { readonly annotations: Readonly<Record<string, string>> } | Unknown;

/**
 * What controllers recorded on the hub about earlier deletions and releases. If it cannot be read, the plan is made
 * without it.
 */
export interface RecordedHubState {
  /** By the name of the source. */
  readonly deletions: ReadonlyMap<string, RecordedDeletions>;
  /** By placement (`namespace/name`), oldest first: what was published and released, as far as the records reach back. */
  readonly records: { readonly of: ReadonlyMap<string, readonly CompactRecord[]> } | Unknown;
}

/**
 * Reads what controllers recorded on the hub.
 * @param sources names
 */
export async function readRecordedHubState(
  hub: KubeApi,
  sources: readonly string[],
): Promise<RecordedHubState> {
  const deletions = sources.map(
    async (source): Promise<readonly [string, RecordedDeletions]> => [
      source,
      await tryRead(async () => {
        const parent = await hub.get(CONFIG_MAP, parentOfSource(source));
        return { annotations: parent?.metadata.annotations ?? {} };
      }),
    ],
  );
  return {
    deletions: new Map(await Promise.all(deletions)),
    records: await tryRead(async () => ({ of: await recordsByPlacement(hub) })),
  };
}

async function recordsByPlacement(hub: KubeApi): Promise<ReadonlyMap<string, readonly CompactRecord[]>> {
  const { items } = await hub.list(CONFIG_MAP, { labelSelector: RECORDS_LABEL });
  const records = items.flatMap((item) => recordsOf(dataOf(item)));
  return groupBy(records, ({ placement }) => placement);
}

async function tryRead<T>(read: () => Promise<T>): Promise<T | Unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    return { problem: errorText(error) };
  }
}
