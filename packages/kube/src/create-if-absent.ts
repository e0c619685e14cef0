import { ConflictError } from '@berth/runtime/errors';
import type { KindInfo } from './model/kinds.ts';
import type { KubeObject } from './model/object-meta.ts';
import type { KubeApi, WriteOptions } from './model/kube-api.ts';

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
