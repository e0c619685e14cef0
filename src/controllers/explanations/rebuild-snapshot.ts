import { InputError } from '@berth/runtime/errors';
import { recordedClusters, withRecordedClusters } from '@berth/placement/explain/snapshot/recorded-decisions';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { overlaySnapshot } from '../../core/preview/sides/overlay-snapshot.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { readHubSnapshot } from './hub-snapshot.ts';
import { readOfflineSnapshot, type CommandContext } from './offline-snapshot.ts';

export interface RebuildInput {
  readonly record: CompactRecord;
  /** All records on the hub, oldest first. */
  readonly records: readonly CompactRecord[];
  readonly hub: KubeApi;
  /** A clone that contains the commit of the record, or a folder in such a clone. */
  readonly repo: string;
}

/**
 * Rebuilds the inputs of a decision: the objects of the record's commit on the current hub, without
 * those of later commits, and the decisions that were published before. Status and scores are the
 * current ones; the digest shows whether the decision is the same.
 * @throws InputError if the history of Git or the records is too short
 */
export async function rebuildSnapshot(input: RebuildInput, context: CommandContext): Promise<Snapshot> {
  const { record, records, hub } = input;
  const subject = `record ${record.hash}`;
  if (record.commit === null)
    throw new InputError('names no commit, so its inputs cannot be rebuilt', {
      code: 'history.commit',
      subject,
    });
  const latest = records.findLast(({ commit }) => commit !== null)?.commit ?? record.commit;
  const now = record.publishedAt;
  const readGit = async (ref: string): Promise<Snapshot> =>
    (await readOfflineSnapshot({ from: input.repo, ref, now }, context)).snapshot;
  const [then, present] = [await readGit(record.commit.id), await readGit(latest.id)];
  const live = await readHubSnapshot(hub, now);
  const [namespace = '', name = ''] = record.placement.split('/');
  const published = recordedClusters(live, { namespace, name });
  const before = publishedBefore(record, records, published);
  return withRecordedClusters(overlaySnapshot(live, then, present), { namespace, name }, before);
}

/**
 * The clusters that were published before, computed backwards from the current pages through the
 * records.
 */
function publishedBefore(
  record: CompactRecord,
  records: readonly CompactRecord[],
  published: readonly string[],
): readonly string[] {
  const own = records.filter(({ placement }) => placement === record.placement);
  const back = own.slice(own.findIndex(({ hash }) => hash === record.hash)).reverse();
  const clusters = new Set(published);
  for (const { hash, added, removed } of back) {
    if (added.names.length < added.count || removed.names.length < removed.count)
      throw new InputError('moved more clusters than it names, so the decision before it is unknown', {
        code: 'history.moves',
        subject: `record ${hash}`,
      });
    for (const cluster of added.names) clusters.delete(cluster);
    for (const cluster of removed.names) clusters.add(cluster);
  }
  return [...clusters].sort();
}
