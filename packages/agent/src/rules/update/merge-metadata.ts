import type { ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';
import { withoutClaim } from '../applied/claim.ts';
import { withOwner } from '../applied/ownership.ts';

export interface Ownership {
  readonly reference: OwnerReference;
  readonly owned: boolean;
}

/**
 * Metadata of an existing object under the Update strategy: labels and annotations are merged (the
 * manifest wins, entries of others stay), owner references are updated, everything else, including
 * finalizers, is unchanged.
 */
export function mergeMetadata(live: ObjectMeta, manifest: ObjectMeta, ownership: Ownership): ObjectMeta {
  const merged = withOwner(live.ownerReferences ?? [], ownership.reference, ownership.owned);
  const { labels, annotations, ownerReferences: _live, ...rest } = live;
  return {
    ...rest,
    ...mapField('labels', withoutClaim(mergeMap(labels, manifest.labels))),
    ...mapField('annotations', mergeMap(annotations, manifest.annotations)),
    ...(merged.length === 0 ? {} : { ownerReferences: merged }),
  };
}

/**
 * Metadata of an object to create. The manifest's finalizers are used only here. Its owner references are never used.
 */
export function metadataToCreate(manifest: ObjectMeta, ownership: Ownership): ObjectMeta {
  const { uid: _uid, resourceVersion: _version, ownerReferences: _references, ...rest } = manifest;
  return ownership.owned ? { ...rest, ownerReferences: [ownership.reference] } : rest;
}

type StringMap = Readonly<Record<string, string>>;

function mergeMap(
  live: StringMap | undefined,
  manifest: StringMap | null | undefined,
): StringMap | undefined {
  return manifest === undefined || manifest === null ? live : { ...live, ...manifest };
}

function mapField(name: 'labels' | 'annotations', value: StringMap | undefined): Partial<ObjectMeta> {
  return value === undefined || Object.keys(value).length === 0 ? {} : { [name]: value };
}
