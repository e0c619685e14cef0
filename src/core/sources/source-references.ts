import {
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import type { SourceObject } from '@berth/kube/model/source-object';

/**
 * The names that objects of a fleet may refer to: everything besides itself that the meaning of one object depends
 * on.
 */
export class SourceReferences {
  readonly clusters: ReadonlySet<string>;
  readonly clusterSets: ReadonlySet<string>;
  /** Names of the bindings by namespace. */
  readonly bindings: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names of the placements by namespace. */
  readonly placements: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(objects: readonly SourceObject[]) {
    this.clusters = new Set(metadataOf(objects, MANAGED_CLUSTER).map(({ name }) => name));
    this.clusterSets = new Set(metadataOf(objects, MANAGED_CLUSTER_SET).map(({ name }) => name));
    this.bindings = byNamespace(metadataOf(objects, MANAGED_CLUSTER_SET_BINDING));
    this.placements = byNamespace(metadataOf(objects, PLACEMENT));
  }
}

type Metadata = SourceObject['object']['metadata'];

function metadataOf(objects: readonly SourceObject[], kind: KindInfo): readonly Metadata[] {
  const apiVersion = apiVersionOf(kind);
  return objects
    .filter(({ object }) => object.kind === kind.kind && object.apiVersion === apiVersion)
    .map(({ object }) => object.metadata);
}

function byNamespace(all: readonly Metadata[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const { namespace = '', name } of all) {
    const known = names.get(namespace);
    if (known === undefined) names.set(namespace, new Set([name]));
    else known.add(name);
  }
  return names;
}
