import { DEFAULT_MANIFEST_LIMIT_BYTES, manifestSizeBytes } from '@berth/ocm/kind/manifest-config';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';

/** A work of an add-on, and what belongs into it. Without manifests it is not needed any more. */
export interface Place {
  readonly name: string;
  /** The work as it is. Undefined: there is none yet. */
  readonly current: ManifestWork | undefined;
  readonly manifests: readonly KubeObject[];
}

interface Filling {
  readonly place: { readonly name: string; readonly current: ManifestWork | undefined };
  readonly manifests: KubeObject[];
  freeBytes: number;
}

/** A work is filled to four fifths of what admission allows, so that manifests which grow a little stay where they are. */
const FULL_BYTES = 0.8 * DEFAULT_MANIFEST_LIMIT_BYTES;

/**
 * Spreads the manifests of an add-on over works. A manifest stays in the work that has it: one that moved would be
 * deleted and created again on the cluster. New ones go, largest first, into the existing work with most space, else into
 * new works. Of two manifests for the same object the last one counts.
 * Source: open-cluster-management.io/sdk-go `pkg/apis/work/v1/builder/workbuilder.go`; unlike there, a new work never takes
 * the name of an existing one, and manifests of equal size keep their order.
 * @param works the add-on's works of this cluster
 * @param nameOf the name of the work with this number, from 0
 */
export function placeManifests(
  manifests: readonly KubeObject[],
  works: readonly ManifestWork[],
  nameOf: (index: number) => string,
): readonly Place[] {
  const missing = new Map(manifests.map((manifest) => [identityOf(manifest), manifest]));
  const existing = works.map((work): Filling => {
    const kept: KubeObject[] = [];
    for (const manifest of work.spec?.workload?.manifests ?? []) {
      const wanted = missing.get(identityOf(manifest));
      if (wanted !== undefined && missing.delete(identityOf(manifest))) kept.push(wanted);
    }
    return { place: { name: work.metadata.name, current: work }, manifests: kept, freeBytes: FULL_BYTES };
  });
  const added = [...missing.values()].map((manifest) => ({ manifest, bytes: manifestSizeBytes(manifest) }));
  // Mostly nothing is new, and no size is needed.
  if (added.length > 0)
    for (const one of existing)
      for (const manifest of one.manifests) one.freeBytes -= manifestSizeBytes(manifest);
  const homes = new Map<KubeObject, Filling>();
  const fillings = [...existing];
  const names = new Set(works.map(({ metadata }) => metadata.name));
  for (const { manifest, bytes } of added.toSorted((a, b) => b.bytes - a.bytes)) {
    const home = roomiest(existing, bytes) ?? roomInNewest(fillings.slice(existing.length), bytes);
    const chosen = home ?? {
      ...{ place: { name: freeName(names, nameOf), current: undefined } },
      ...{ manifests: [], freeBytes: FULL_BYTES },
    };
    if (home === undefined) fillings.push(chosen);
    chosen.freeBytes -= bytes;
    homes.set(manifest, chosen);
  }
  // In the order of the template: it is the order in which an author expects them.
  for (const { manifest } of added) homes.get(manifest)?.manifests.push(manifest);
  return fillings.map(({ place, manifests: held }) => ({ ...place, manifests: held }));
}

/** The existing work with most space, if the manifest fits. One that is going takes nothing new. */
function roomiest(existing: readonly Filling[], bytes: number): Filling | undefined {
  const [most] = existing
    .filter(({ place }) => place.current?.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => b.freeBytes - a.freeBytes);
  return most !== undefined && bytes < most.freeBytes ? most : undefined;
}

/** The newest work, if the manifest fits. As upstream, those before it are not filled up. */
function roomInNewest(made: readonly Filling[], bytes: number): Filling | undefined {
  const newest = made.at(-1);
  return newest !== undefined && bytes < newest.freeBytes ? newest : undefined;
}

function freeName(names: Set<string>, nameOf: (index: number) => string): string {
  for (let index = 0; ; index += 1) {
    const name = nameOf(index);
    if (names.has(name)) continue;
    names.add(name);
    return name;
  }
}
