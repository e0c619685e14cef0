import type { ResourceRef } from '../schema/resource-definition.ts';
import { awaitsConversion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { RequestContext } from './request-context.ts';

/** Asks for what `ref` cannot show yet of these objects, while the request has no seat. @throws StatusError 429, 500 */
export async function prepareToShow(
  context: Pick<RequestContext, 'cluster' | 'outside'>,
  entries: readonly StoredObject[],
  ref: ResourceRef,
): Promise<void> {
  if (ref.definition.conversion?.kind !== 'webhook') return;
  if (!entries.some(({ object }) => awaitsConversion(object, ref))) return;
  await context.outside(() => context.cluster.conversions.prepare(entries, ref));
}
