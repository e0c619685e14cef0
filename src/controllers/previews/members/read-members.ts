import pLimit from 'p-limit';
import { sha256 } from '@berth/runtime/sha256';
import { BerthError, errorText } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  memberKinds,
  parentOfSource,
  uniqueKinds,
} from '../../../core/sync/apply-set.ts';
import { ApplySetRegistry } from '../../sources/members/apply-set-registry.ts';

/** Concurrent requests. */
const CONCURRENCY = 8;
/** If more objects of a kind must be read, one list reads them all. */
const MAX_SINGLE_READS = 20;

/** The objects on a hub of the kinds that a source has, by identity. */
export interface HubMembers {
  /** The objects of the source itself, including those whose deletion is held. */
  readonly own: ReadonlyMap<string, KubeObject>;
  /** The objects of other sources. */
  readonly others: ReadonlySet<string>;
  /** Why objects may be missing here; '' if none is. */
  readonly problem: string;
}

/**
 * The heads (`memberHead`) of the members of all sources, of one kind; undefined if they must be listed.
 */
export type MemberHeads = (kind: KindInfo) => Promise<readonly KubeObject[] | undefined>;

/** What is read of a source on a hub. */
interface ReadMembers {
  readonly source: string;
  /** The objects that Git declares; their kinds are listed as well. */
  readonly objects: readonly KubeObject[];
  /** Whether the head of a member is enough, so that the member itself need not be read. */
  readonly isHeadEnough: (member: KubeObject) => boolean;
  readonly headsOf?: MemberHeads | undefined;
}

/**
 * Reads the objects of a source from the hub: the members of its ApplySet. What cannot be read is reported, and the
 * plan is made without it.
 */
export async function readMembers(
  api: KubeApi,
  { source, objects, isHeadEnough, headsOf }: ReadMembers,
): Promise<HubMembers> {
  const parent = parentOfSource(source);
  const limit = pLimit(CONCURRENCY);
  const id = applySetId(sha256, parent);
  const listKind = async (kind: KindInfo): Promise<readonly KubeObject[]> => {
    const heads = await headsOf?.(kind);
    const isOwn = ({ metadata }: KubeObject): boolean => metadata.labels?.[APPLY_SET_PART_OF_LABEL] === id;
    const bare = heads?.filter((head) => isOwn(head) && !isHeadEnough(head)) ?? [];
    if (heads === undefined || bare.length > MAX_SINGLE_READS)
      return (await api.list(kind, { labelSelector: APPLY_SET_PART_OF_LABEL })).items;
    const whole = new Map<KubeObject, readonly KubeObject[]>();
    for (const head of bare) whole.set(head, await readMember(api, kind, head));
    return heads.flatMap((head) => whole.get(head) ?? head);
  };
  const registry = new ApplySetRegistry({ api, parent, id, limit, listKind });
  try {
    const kinds = uniqueKinds([...memberKinds(await registry.readParent()), ...objects]);
    const { own, others, unlisted } = await registry.listMembers(kinds);
    const problem = unlisted.map(({ resource, error }) => `${resource}: ${errorText(error)}`).join('; ');
    return { own, others: new Set(others.keys()), problem };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    return { own: new Map(), others: new Set(), problem: errorText(error) };
  }
}

/** Reads one member; empty if it is no member any more. A list needs no other right than reading all members. */
async function readMember(
  api: KubeApi,
  kind: KindInfo,
  { metadata: { namespace, name } }: KubeObject,
): Promise<readonly KubeObject[]> {
  const fieldSelector = `metadata.name=${name}`;
  return (await api.list(kind, { namespace, fieldSelector, labelSelector: APPLY_SET_PART_OF_LABEL })).items;
}
