import type { JsonObject } from '../json/json-value.ts';
import { textAt } from '../json/json-value.ts';
import { noteCurrent } from '../scheme/current-shape.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { storageRef, toVersion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { Cluster } from '../request/cluster.ts';
import { metadataOf, storageKeyOf } from '../request/cluster.ts';

export interface PreparedObject {
  readonly ref: ResourceRef;
  /** In the version of `ref`, ready but for its resourceVersion. */
  readonly object: JsonObject;
  /** The version to store it in, where that is not the storage version. */
  readonly storedAs?: ResourceRef | undefined;
  /** A client decided what is in the object: it may not grow without bounds. */
  readonly bounded?: true;
  /** This write takes the object away; `object` is its last state. */
  readonly removed: boolean;
}

/** The end of every write: stores the object in its storage version, or removes it, and notifies the components that must know at once. */
export function storeObject(cluster: Cluster, prepared: PreparedObject): StoredObject {
  const { ref, object, removed } = prepared;
  const stored = prepared.storedAs ?? storageRef(ref);
  const metadata = metadataOf(object);
  const key = storageKeyOf(ref, textAt(metadata, 'namespace'), textAt(metadata, 'name'));
  const shown = stored.version === ref.version ? object : toVersion(object, stored);
  const entry = removed ? cluster.store.delete(key, shown) : cluster.store.put(key, shown, prepared.bounded);
  if (!ref.definition.builtIn) noteCurrent(entry.object, stored.version);
  cluster.afterWrite(ref, { entry, removed });
  return entry;
}
