import type { JsonObject } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { UserInfo } from '../../wire/user-info.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** One write in the eyes of admission. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly ref: ResourceRef;
  readonly subresource: string;
  /** Of a Namespace its own name; '' for other cluster-scoped objects. */
  readonly namespace: string;
  /** '' for an object whose name is made by the server. */
  readonly name: string;
  /** In the version of `ref`; of a Scale, the Scale. Undefined for a deletion. */
  readonly object: JsonObject | undefined;
  /** Undefined for a creation. */
  readonly old: JsonObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the request, with their kind. */
  readonly options: JsonObject;
}
