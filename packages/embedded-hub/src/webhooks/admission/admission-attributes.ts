import type { JsonObject } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { UserInfo } from '../../wire/user-info.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** The attributes of one write for admission. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly ref: ResourceRef;
  readonly subresource: string;
  /** For a Namespace its own name; '' for other cluster-scoped objects. */
  readonly namespace: string;
  /** '' for an object whose name the server generates. */
  readonly name: string;
  /** In the version of `ref`; for the subresource `scale` the Scale. Undefined for a deletion. */
  readonly object: JsonObject | undefined;
  /** Undefined for a creation. */
  readonly old: JsonObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the request, with their kind. */
  readonly options: JsonObject;
}
