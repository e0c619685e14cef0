import { EVENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import { type DescribedSection, describeObject } from '../../../../core/listing/describe-object.ts';
import type { ReadObjects } from './get-output.ts';

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
