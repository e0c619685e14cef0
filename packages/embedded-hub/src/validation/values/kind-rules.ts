import type { NameRule } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';

/** Validation of one built-in kind, in addition to the metadata checks of all kinds. */
export interface KindRules {
  /** Default: a DNS subdomain. */
  readonly name?: NameRule;
  /** Finalizers need no domain. */
  readonly anyFinalizer?: true;
  /**
   * How often the API server validates metadata on update; it reports a problem each time. `new`:
   * the third check is the one of a new object. `new twice`: the third and the fourth. Default 3.
   */
  readonly metadataChecks?: 2 | 'new' | 'new twice' | 4;
  /** Checks the whole object, on create and on update; `old` is undefined on create. */
  readonly validate: (object: JsonObject, at: FieldReporter, old: JsonObject | undefined) => void;
  /** Checks a write through a subresource. Default: only metadata is checked. */
  readonly validateSubresource?: (
    subresource: string,
    object: JsonObject,
    at: FieldReporter,
    old: JsonObject,
  ) => void;
}
