import pLimit from 'p-limit';
import { sha256 } from '../../runtime/sha256.ts';
import { BerthError, errorText } from '../../core/errors.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { KubeApi } from '../../core/ports.ts';
import { applySetId, memberKinds, parentOfSource, uniqueKinds } from '../../core/sync/apply-set.ts';
import { ApplySetRegistry } from '../sources/members/apply-set-registry.ts';

/** Concurrent requests. */
const CONCURRENCY = 8;

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
 * Reads the objects of a source from the hub: the members of its ApplySet. What cannot be read is reported, and the
 * plan is made without it.
 * @param objects the objects that Git declares; their kinds are listed as well
 */
export async function readMembers(
  api: KubeApi,
  source: string,
  objects: readonly KubeObject[],
): Promise<HubMembers> {
  const parent = parentOfSource(source);
  const limit = pLimit(CONCURRENCY);
  const registry = new ApplySetRegistry({ api, parent, id: applySetId(sha256, parent), limit });
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
