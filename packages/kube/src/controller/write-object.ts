import type { KubeApi } from '../model/kube-api.ts';
import { ConflictError } from '@berth/runtime/errors';
import type { ObjectWrite } from '../model/object-writes.ts';

/**
 * Makes one write of a plan.
 * @throws ConflictError when the object changed since it was read
 */
export async function writeObject(hub: KubeApi, write: ObjectWrite, fieldManager: string): Promise<void> {
  const { kind, object } = write;
  const { namespace = '', name, uid, resourceVersion, labels } = object.metadata;
  const options = { fieldManager, metadataOnly: true };
  switch (write.do) {
    case 'create':
      try {
        await hub.create(kind, object, options);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        // An object without the label is not watched. With the label, the next pass sees and compares it.
        await hub.mergePatch(kind, { namespace, name }, { metadata: { labels } }, options);
      }
      return;
    case 'patch': {
      const { metadata, ...rest } = write.patch as { readonly metadata?: object };
      const patch = { ...rest, metadata: { ...metadata, uid, resourceVersion } };
      await hub.mergePatch(kind, { namespace, name }, patch, options);
      return;
    }
    case 'delete':
      await hub.delete(kind, { namespace, name }, { uid });
  }
}
