import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  ADDON_PLACEMENT_SCORE,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { recordedClusters, withRecordedClusters } from '@berth/placement/explain/snapshot/recorded-decisions';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { errorText, InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import { overlaySnapshot } from '../../core/preview/sides/overlay-snapshot.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/cluster-sets.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import { withSchedulingEnabled } from '../inventory/schedulable-placement.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { checkSimulationCase, type ParsedCase, type SimulationCase } from './simulation-case.ts';

export interface OfflineSource {
  /** Folder or file of manifests. */
  readonly from: string;
  /** Reads this revision of the repository that contains `from`, instead of the files on disk. */
  readonly ref?: string | undefined;
  /** A file of cases in the format of `berth simulate`. If it is given, `from` is ignored. */
  readonly caseFile?: string | undefined;
  readonly caseName?: string | undefined;
  /** RFC 3339. A case has its own time. */
  readonly now: string;
}

export interface CommandContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface OfflineSnapshot {
  readonly snapshot: Snapshot;
  /** Problems found while reading. Objects with errors are not in the snapshot. */
  readonly problems: readonly Problem[];
  /** What the snapshot has that was not declared, one sentence each. */
  readonly assumed: readonly string[];
}

/** Reads a snapshot without a hub: from a folder, from a commit, or from a recorded case. */
export async function readOfflineSnapshot(
  source: OfflineSource,
  context: CommandContext,
): Promise<OfflineSnapshot> {
  if (source.caseFile !== undefined) {
    const file = path.resolve(context.cwd, source.caseFile);
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new InputError('cannot be read', {
        code: 'case.not-found',
        subject: source.caseFile ?? '',
        cause,
      });
    });
    const given = readCaseSnapshot(text, { file: source.caseFile, name: source.caseName });
    return { ...given, problems: [] };
  }
  const content =
    source.ref === undefined ? await readFolder(source.from, context) : await readRevision(source, context);
  const declared = snapshotOfObjects(content.objects, { now: source.now });
  return {
    snapshot: withAssumedSets(declared),
    problems: content.problems,
    assumed: assumedSetNotes(declared),
  };
}

async function readFolder(folder: string, { cwd, signal }: CommandContext): Promise<SourceContent> {
  const { readSourceFolder } = await import('../sources/reading/read-source-folder.ts');
  return readSourceFolder(path.resolve(cwd, folder), { signal, cwd });
}

async function readRevision(
  { from, ref = 'HEAD' }: OfflineSource,
  { cwd, env }: CommandContext,
): Promise<SourceContent> {
  const { findGitDir } = await import('../sources/reading/find-git-dir.ts');
  const { SourceReader } = await import('../sources/reading/source-reader.ts');
  const { openRepository } = await import('@berth/git-reader/open-repository');
  const { gitDir, below } = await findGitDir(path.resolve(cwd, from));
  const { repository } = await openRepository({ gitDir, ambient: env });
  try {
    const paths = below === '' ? [] : [`${below}/**`];
    return await new SourceReader(repository, { paths }).read(await repository.resolveRevision(ref));
  } finally {
    await repository.close();
  }
}

/**
 * Reads a snapshot from JSON Lines of cases. A case is the line itself, or its field `case` as in recorded results.
 * @param from `name`: the name of the case; undefined: the first one
 * @throws InputError with the line of an invalid case, or if there is no such case
 */
export function readCaseSnapshot(
  text: string,
  from: { readonly file: string; readonly name?: string | undefined },
): Pick<SimulationCase, 'snapshot' | 'assumed'> {
  const names: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const found = parseLine(line);
    if (!found.ok)
      throw new InputError(found.error, {
        code: 'case.syntax',
        subject: 'Case',
        location: { file: from.file, line: index + 1, column: 1 },
      });
    if (from.name === undefined || found.name === from.name) return found;
    names.push(found.name);
  }
  const known = names.slice(0, 5).join(', ');
  const problem =
    names.length === 0 ? 'contains no case' : `has no case ${JSON.stringify(from.name)}, it has ${known}`;
  throw new InputError(problem, { code: 'case.not-found', subject: from.file });
}

function parseLine(line: string): ParsedCase {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { ok: false, error: `not JSON (${errorText(error)}), expected one case object per line` };
  }
  const isWrapped = typeof value === 'object' && value !== null && Object.hasOwn(value, 'case');
  return checkSimulationCase(isWrapped ? (value as { readonly case: unknown }).case : value);
}

/**
 * Reads a snapshot from a hub once. With `only`, just that placement is decided, with the published decisions of all
 * others. A kind that cannot be read is an error, never an empty list.
 */
export async function readHubSnapshot(hub: KubeApi, now: string, only?: PlacementRef): Promise<Snapshot> {
  const list = async <T>(kind: KindInfo): Promise<readonly T[]> =>
    (await hub.list(kind)).items as unknown as readonly T[];
  const [placements, clusters, clusterSets, bindings, decisions, scores] = await Promise.all([
    only === undefined ? list<Placement>(PLACEMENT) : readOne(hub, only),
    list<ManagedCluster>(MANAGED_CLUSTER),
    list<ManagedClusterSet>(MANAGED_CLUSTER_SET),
    list<ManagedClusterSetBinding>(MANAGED_CLUSTER_SET_BINDING),
    list<PlacementDecision>(PLACEMENT_DECISION),
    list<AddOnPlacementScore>(ADDON_PLACEMENT_SCORE),
  ]);
  return {
    now,
    placements: placements.map(withSchedulingEnabled),
    clusters,
    clusterSets,
    bindings,
    decisions,
    scores,
  };
}

async function readOne(hub: KubeApi, ref: PlacementRef): Promise<readonly Placement[]> {
  const found = await hub.get(PLACEMENT, ref);
  return found === undefined ? [] : [found as unknown as Placement];
}

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
