import type { JsonObject } from '../json/json-value.ts';
import { textAt } from '../json/json-value.ts';
import { cacheConversion } from '../scheme/conversion-cache.ts';
import { markCurrent } from '../scheme/current-shape.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { storageRef, toVersion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { withResourceVersionOf } from '../webhooks/conversions.ts';
import type { Cluster } from '../request/cluster.ts';
import { metadataOf, storageKeyOf } from '../request/cluster.ts';

export interface PreparedObject {
  readonly ref: ResourceRef;
  /** In the version of `ref`, complete except for its resourceVersion. */
  readonly object: JsonObject;
  /** The version to store it in; default: the storage version. */
  readonly storedAs?: ResourceRef | undefined;
  /** Converts to that version; default: the conversions that need no webhook. */
  readonly toVersion?: (object: JsonObject, ref: ResourceRef) => JsonObject;
  /** The object comes from a client, so its size is limited. */
  readonly bounded?: true;
  /** This write removes the object; `object` is its last state. */
  readonly removed: boolean;
}

/** The end of every write: stores the object in its storage version, or removes it, and notifies what depends on it. */
export function storeObject(cluster: Cluster, prepared: PreparedObject): StoredObject {
  const { ref, object, removed } = prepared;
  const stored = prepared.storedAs ?? storageRef(ref);
  const metadata = metadataOf(object);
  const key = storageKeyOf(ref, textAt(metadata, 'namespace'), textAt(metadata, 'name'));
  const convert = prepared.toVersion ?? toVersion;
  const inStorageVersion = stored.version === ref.version ? object : convert(object, stored);
  // The response is made before the object is stored, so that no object is stored that cannot be
  // converted back.
  const response = needsResponseConversion(ref, stored) ? convert(inStorageVersion, ref) : undefined;
  const entry = removed
    ? cluster.store.delete(key, inStorageVersion)
    : cluster.store.put(key, inStorageVersion, prepared.bounded);
  // A converted object gets the defaults of its version when it is read.
  const written = ref.definition.conversion === undefined || stored.version === ref.version;
  if (!ref.definition.builtIn && written) markCurrent(entry.object, stored.version);
  if (response !== undefined)
    cacheConversion(entry.object, ref.version, withResourceVersionOf(entry.object, response));
  cluster.afterWrite(ref, { entry, removed });
  return entry;
}

function needsResponseConversion(ref: ResourceRef, stored: ResourceRef): boolean {
  return ref.definition.conversion?.kind === 'webhook' && stored.version !== ref.version;
}
