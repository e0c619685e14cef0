import {
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  typeKeyOf,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';

/** An object that is not part of the fleet, and that its objects may refer to. */
export type ReferredObject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

/**
 * The names that objects of a fleet may refer to: everything besides itself that the meaning of one object depends
 * on. Of a kind that the fleet does not declare, all names are possible.
 */
export class SourceReferences {
  readonly clusters: ReadonlySet<string>;
  readonly clusterSets: ReadonlySet<string>;
  /** Names of the bindings by namespace. */
  readonly bindings: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names of the placements by namespace. */
  readonly placements: ReadonlyMap<string, ReadonlySet<string>>;

  /** @param elsewhere what other repositories declare, and what is on the hub without Git */
  constructor(objects: readonly SourceObject[], elsewhere: readonly ReferredObject[] = []) {
    const declared = objects.map(({ object }) => object);
    const metadataOf = (kind: KindInfo): readonly Metadata[] => {
      const own = declared.filter(isOf(kind));
      const all = own.length === 0 ? own : [...own, ...elsewhere.filter(isOf(kind))];
      return all.map(({ metadata }) => metadata);
    };
    this.clusters = new Set(metadataOf(MANAGED_CLUSTER).map(({ name }) => name));
    this.clusterSets = new Set(metadataOf(MANAGED_CLUSTER_SET).map(({ name }) => name));
    this.bindings = byNamespace(metadataOf(MANAGED_CLUSTER_SET_BINDING));
    this.placements = byNamespace(metadataOf(PLACEMENT));
  }
}

type Metadata = KubeObject['metadata'];

function isOf(kind: KindInfo): (object: ReferredObject) => boolean {
  const apiVersion = apiVersionOf(kind);
  return (object) => object.kind === kind.kind && object.apiVersion === apiVersion;
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

/** The objects of a fleet by kind. Their shapes were checked when they were read. */
export class ObjectsByKind {
  readonly all: readonly SourceObject[];
  readonly #byType = new Map<string, SourceObject[]>();

  constructor(objects: readonly SourceObject[]) {
    this.all = objects;
    for (const source of objects) {
      const type = `${source.object.apiVersion} ${source.object.kind}`;
      const known = this.#byType.get(type);
      if (known === undefined) this.#byType.set(type, [source]);
      else known.push(source);
    }
  }

  /** Objects of one kind and version, typed as that kind; the caller names the type that belongs to the kind. */
  ofKind<T extends { readonly metadata: unknown }>(kind: KindInfo): readonly SourceObject<T>[] {
    const found: readonly SourceObject[] = this.#byType.get(typeKeyOf(kind)) ?? [];
    return found as unknown as readonly SourceObject<T>[];
  }
}
