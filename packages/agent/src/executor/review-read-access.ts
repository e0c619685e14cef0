import { errorText } from '@berth/runtime/errors';
import type {
  ManifestCondition,
  ManifestResourceMeta,
  ManifestWorkSpec,
} from '@berth/ocm/kind/manifest-work';
import type { ExecutorReviews } from './executor-reviews.ts';
import { parseExecutor, type ExecutorChoice } from '../rules/applied/executor-subject.ts';
import type { WatchedObject } from '../cluster/live-objects.ts';
import { kindOfResource } from '../rules/applied/applied-resources.ts';

/** Whether the agent may read an object for a work and report its state. */
export type ReadAccess =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly problem: string }
  /** Unknown, because the check failed. */
  | { readonly kind: 'failed'; readonly problem: string };

const ALLOWED: ReadAccess = { kind: 'allowed' };

/**
 * Whether the executor of a work may get the objects of its status, one result for each entry. The
 * agent reads with its own rights, which include every Secret; without this check, feedback and
 * Available could reveal data that the executor may not read.
 */
export async function reviewReadAccess(
  reviews: ExecutorReviews,
  executor: ManifestWorkSpec['executor'],
  entries: readonly ManifestCondition[],
): Promise<readonly ReadAccess[]> {
  const choice = parseExecutor(executor);
  const access: ReadAccess[] = [];
  for (const { resourceMeta } of entries) access.push(await accessTo(reviews, choice, resourceMeta));
  return access;
}

async function accessTo(
  reviews: ExecutorReviews,
  choice: ExecutorChoice,
  meta: ManifestResourceMeta,
): Promise<ReadAccess> {
  if (choice.kind === 'none') return ALLOWED;
  if (choice.kind === 'unusable') return { kind: 'denied', problem: choice.problem };
  const object = objectAddress(meta);
  // Without an address there is nothing to read.
  if (object === undefined) return ALLOWED;
  try {
    if (await reviews.isGetAllowed(choice.account, object)) return ALLOWED;
  } catch (error) {
    return { kind: 'failed', problem: errorText(error) };
  }
  const { namespace, name } = choice.account;
  const { kind, key } = object;
  const problem = `executor ${namespace}/${name} is not allowed to get the resource ${kind.group} ${kind.plural}, ${key.namespace} ${key.name}`;
  return { kind: 'denied', problem };
}

/** The object of an entry of a work's status; undefined if the entry does not identify one. */
export function objectAddress(meta: ManifestResourceMeta): WatchedObject | undefined {
  const { group = '', version = '', resource = '', name = '', namespace = '' } = meta;
  if (version === '' || resource === '' || name === '') return undefined;
  return { kind: kindOfResource({ group, version, resource, name, namespace }), key: { namespace, name } };
}
