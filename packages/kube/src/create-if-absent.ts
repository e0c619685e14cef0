import { ConflictError } from '@berth/runtime/errors';
import { apiVersionOf, type KindInfo } from './model/kinds.ts';
import type { KubeApi, ListOptions, WriteOptions } from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';

/**
 * Creates an object unless one with its name exists. It is not an error if another client creates
 * it first.
 * @throws the errors of the API
 */
export async function createIfAbsent(
  api: KubeApi,
  kind: KindInfo,
  object: KubeObject,
  options?: WriteOptions,
): Promise<void> {
  const { namespace = '', name } = object.metadata;
  if ((await api.get(kind, { namespace, name })) !== undefined) return;
  try {
    await api.create(kind, object, options);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

const MAX_ATTEMPTS = 5;

/**
 * Runs a read and a write again, immediately, when the object was changed concurrently. At most five attempts.
 * @throws ConflictError of the last attempt, and every other error
 */
export async function retryOnConflict<T>(readAndWrite: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readAndWrite();
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** The objects of a kind; none on a server that does not have the kind. */
export async function listServed(
  hub: Pick<KubeApi, 'list' | 'resolve'>,
  kind: KindInfo,
  options?: ListOptions,
): Promise<readonly KubeObject[]> {
  const served = await hub.resolve(apiVersionOf(kind), kind.kind);
  return served === undefined ? [] : (await hub.list(served, options)).items;
}
