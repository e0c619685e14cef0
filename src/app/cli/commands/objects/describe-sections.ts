import {
  CONFIG_MAP,
  EVENT,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import { InputError } from '@berth/runtime/errors';
import { formatNameList } from '@berth/runtime/text/name-list';
import { dataOf } from '../../../../controllers/publication/hub-records.ts';
import { type DescribedSection, describeObject } from '../../../../core/listing/describe-object.ts';
import { ageSince } from '../../../../core/listing/listed.ts';
import {
  type CompactRecord,
  RECORDS_NAME,
  recordsOf,
} from '../../../../core/publish/record/compact-record.ts';
import { describeManifests } from '../../../../core/work/describe-work.ts';
import type { ReadObjects } from './get-output.ts';

const MAX_MOVES = 5;

/** Where a placement moved lately, by which commit, and how to ask why. */
export async function placementSections(
  hub: KubeApi,
  object: KubeObject,
): Promise<readonly DescribedSection[]> {
  const { namespace = '' } = object.metadata;
  const key = namespacedName(object.metadata);
  const stored = await hub.get(CONFIG_MAP, { namespace, name: RECORDS_NAME });
  const records = recordsOf(dataOf(stored)).filter(({ placement }) => placement === key);
  return [
    { title: 'Last moves', lines: records.slice(-MAX_MOVES).map((record) => moveText(record, Date.now())) },
    {
      title: 'Ask further',
      lines: [`berth explain ${key} --hub`, `berth explain ${key} --hub --cluster NAME`],
    },
  ];
}

function moveText(
  { publishedAt, clusters, added, removed, commit, released }: CompactRecord,
  nowMs: number,
): string {
  const moves = [
    ...(added.count === 0 ? [] : [`+ ${formatNameList(added.names)}`]),
    ...(removed.count === 0 ? [] : [`− ${formatNameList(removed.names)}`]),
  ];
  const by = commit == null ? '' : `, commit ${commit.id.slice(0, 8)} of ${commit.author}: ${commit.subject}`;
  const who = released == null ? '' : `, released by ${released.by}`;
  const what = moves.length === 0 ? 'no cluster moved' : moves.join(' ');
  return `${ageSince(publishedAt, nowMs)} ago, ${what}, then ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'}${by}${who}`;
}

/** What runs on a cluster, and what keeps work away from it. */
export async function clusterSections(
  hub: KubeApi,
  object: KubeObject,
): Promise<readonly DescribedSection[]> {
  const { name } = object.metadata;
  const { spec } = object as unknown as ManagedCluster;
  const [pages, works] = await Promise.all([
    hub.list(PLACEMENT_DECISION),
    hub.list(MANIFEST_WORK, { namespace: name }),
  ]);
  const placements = (pages.items as unknown as readonly PlacementDecision[])
    .filter(({ status }) => status?.decisions?.some(({ clusterName }) => clusterName === name) === true)
    .map(
      ({ metadata }) => `${metadata.namespace ?? ''}/${metadata.labels?.[PLACEMENT_LABEL] ?? metadata.name}`,
    );
  const taints = (spec?.taints ?? []).map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`);
  return [
    { title: 'Taints', lines: taints },
    { title: 'Runs', lines: [...new Set(placements)].sort() },
    { title: 'Works', lines: works.items.map(({ metadata }) => metadata.name) },
    { title: 'Ask further', lines: [`in a clone: berth plan --hub --drain ${name}`] },
  ];
}

export async function clusterSetSections(
  hub: KubeApi,
  object: KubeObject,
): Promise<readonly DescribedSection[]> {
  const membership = membershipOf(object as unknown as ManagedClusterSet);
  const { items } = await hub.list(MANAGED_CLUSTER);
  const clusters = (items as unknown as readonly ManagedCluster[]).filter((one) => isInSet(one, membership));
  return [{ title: 'Clusters', lines: clusters.map(({ metadata }) => metadata.name) }];
}

export async function workSections(_hub: KubeApi, object: KubeObject): Promise<readonly DescribedSection[]> {
  return [{ title: 'Manifests', lines: describeManifests(object as unknown as ManifestWork) }];
}

/**
 * What `berth describe` prints of objects that `berth get` found.
 * @param sectionsOf what only their kind has
 * @throws the errors of the hub
 */
export async function describeFound(
  hub: KubeApi,
  { objects, list }: Pick<ReadObjects, 'objects' | 'list'>,
  sectionsOf: ((hub: KubeApi, object: KubeObject) => Promise<readonly DescribedSection[]>) | undefined,
): Promise<string> {
  const nowMs = Date.now();
  const described: string[] = [];
  for (const object of objects) {
    const sections = await orReason(sectionsOf?.(hub, object) ?? Promise.resolve([]));
    const events = await orReason(eventsOf(hub, object));
    described.push(describeObject({ object, listed: list([object], nowMs), sections, events }, nowMs));
  }
  return described.join('\n');
}

/** Events of objects without a namespace are in `default`. */
async function eventsOf(hub: KubeApi, { kind, metadata }: KubeObject): Promise<readonly KubeObject[]> {
  const fieldSelector = `regarding.kind=${kind},regarding.name=${metadata.name}`;
  return (await hub.list(EVENT, { namespace: metadata.namespace || 'default', fieldSelector })).items;
}

/** @returns a sentence where the hub does not serve something, or this user may not read it */
function orReason<T>(read: Promise<T>): Promise<T | string> {
  return read.catch((error: unknown) => {
    if (error instanceof InputError) return `not read: ${error.message}`;
    throw error;
  });
}
