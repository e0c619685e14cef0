import type { KindInfo } from '@berth/kube/model/kinds';
import type { OtherSubresource } from '../../schema/resource-definition.ts';

interface BuiltinVersion {
  readonly version: string;
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
}

/** A resource of Kubernetes' own API groups, in the version in which it is stored. */
export interface BuiltinResource extends KindInfo, Omit<ResourceDetails, 'schema'> {
  /** Short definition name in kubernetes-schemas.json. */
  readonly schema: string;
}

/** What differs between resources. An absent member has the usual value: no subresource, no short name. */
export interface ResourceDetails {
  /** Where it is not `GROUP.VERSION.KIND` with the first part of the group. */
  readonly schema?: string;
  /** Versions besides the stored one; see to-version.ts for what differs. */
  readonly alsoServed?: readonly BuiltinVersion[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
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
