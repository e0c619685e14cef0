import type { NameRule } from '../../../core/model/selector/name-rules.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Place } from './place.ts';

/** What is checked in objects of one built-in kind besides the metadata that all kinds share. */
export interface KindRules {
  /** Default: a DNS subdomain. */
  readonly name?: NameRule;
  /** Finalizers need no domain. */
  readonly anyFinalizer?: true;
  /**
   * How often an update checks the metadata, each time reporting. `new`: the third time as that of a new object;
   * `new twice`: the third and the fourth time. Default 3.
   */
  readonly metadataChecks?: 2 | 'new' | 'new twice' | 4;
  /** Checks the whole object, on create and on update; `old` is undefined on create. */
  readonly validate: (object: JsonObject, at: Place, old: JsonObject | undefined) => void;
  /** Checks a write through a subresource. Default: nothing but metadata. */
  readonly validateSubresource?: (
    subresource: string,
    object: JsonObject,
    at: Place,
    old: JsonObject,
  ) => void;
}
