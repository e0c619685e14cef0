import type { ResourceRef } from '../schema/resource-definition.ts';
import { awaitsConversion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Converts objects that a webhook must convert to `ref`, and frees the seat of the request
 * meanwhile.
 * @throws StatusError 429, 500
 */
export async function convertForResponse(
  context: Pick<RequestContext, 'cluster' | 'waitOutside'>,
  entries: readonly StoredObject[],
  ref: ResourceRef,
): Promise<void> {
  if (ref.definition.conversion?.kind !== 'webhook') return;
  if (!entries.some(({ object }) => awaitsConversion(object, ref))) return;
  await context.waitOutside(() => context.cluster.conversions.prepare(entries, ref));
}
