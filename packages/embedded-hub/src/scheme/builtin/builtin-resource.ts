import type { OtherSubresource } from '../../schema/resource-definition.ts';

interface BuiltinVersion {
  readonly version: string;
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
}

/** One resource of Kubernetes' own API groups. An absent member has the usual value: namespaced, no subresource, plural `KIND` + `s`. */
export interface BuiltinResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
  /** Versions besides the stored one; see to-version.ts for what differs. */
  readonly alsoServed?: readonly BuiltinVersion[];
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly clusterScoped?: true;
  readonly status?: true;
  readonly scale?: true;
  readonly subresources?: readonly OtherSubresource[];
  /** The resource supports `create` only, like TokenReview, and nothing is stored. */
  readonly review?: true;
  /** Fields that field selectors support, besides metadata.name and metadata.namespace. */
  readonly selectableFields?: readonly string[];
  /** Storage key of another resource that shares its objects. Absent: the resource has its own. */
  readonly storageKey?: string;
}
