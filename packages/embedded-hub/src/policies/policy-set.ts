import type { JsonObject } from '../json/json-value.ts';
import type { ResourceDefinition } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { mayMatchResource } from '../webhooks/admission/match-constraints.ts';
import { ADMISSION_GROUP } from '../webhooks/admission/webhook-configurations.ts';
import { type AdmissionPolicy, type PolicyBinding, readBinding, readPolicy } from './admission-policy.ts';

/** A policy that is bound, with its bindings by name. */
export interface BoundPolicy {
  readonly policy: AdmissionPolicy;
  readonly bindings: readonly PolicyBinding[];
}

export const POLICY_STORAGE = `validatingadmissionpolicies.${ADMISSION_GROUP}`;
const BINDING_STORAGE = `validatingadmissionpolicybindings.${ADMISSION_GROUP}`;

const NONE: readonly BoundPolicy[] = [];

/** Cached by stored object, which never changes. */
const compiled = new WeakMap<JsonObject, AdmissionPolicy>();

/**
 * The active policies, compiled once. The policies that may match a resource are computed once per
 * resource, so that a write without policies costs one map lookup.
 */
export class PolicySet {
  readonly #store: ObjectStore;
  readonly #scheme: Scheme;
  #bound: readonly BoundPolicy[] | undefined;
  #byDefinition = new WeakMap<ResourceDefinition, readonly BoundPolicy[]>();

  constructor(store: ObjectStore, scheme: Scheme) {
    this.#store = store;
    this.#scheme = scheme;
  }

  /** Call it after every write of a policy or a binding. */
  invalidate(): void {
    this.#bound = undefined;
    this.#byDefinition = new WeakMap();
  }

  /** The policies that may match objects of the resource in any version, by name. */
  policiesFor(definition: ResourceDefinition): readonly BoundPolicy[] {
    const cached = this.#byDefinition.get(definition);
    if (cached !== undefined) return cached;
    const found = this.#find(definition);
    this.#byDefinition.set(definition, found);
    return found;
  }

  #find(definition: ResourceDefinition): readonly BoundPolicy[] {
    // Policies do not apply to policies and webhooks, so that a wrong one can be corrected.
    if (definition.group === ADMISSION_GROUP) return NONE;
    this.#bound ??= this.#read();
    if (this.#bound.length === 0) return NONE;
    const same = this.#scheme
      .definitions()
      .filter(({ storageKey }) => storageKey === definition.storageKey)
      .concat(definition);
    return this.#bound.filter(
      ({ policy: { constraints } }) =>
        constraints.rules === undefined ||
        constraints.rules.some((rule) =>
          same.some(({ group, plural }) => mayMatchResource(rule, group, plural)),
        ),
    );
  }

  #read(): readonly BoundPolicy[] {
    if (this.#store.count(BINDING_STORAGE) === 0) return NONE;
    const bindings = this.#store.list(BINDING_STORAGE).map(({ object }) => readBinding(object));
    return this.#store.list(POLICY_STORAGE).flatMap(({ name, object }) => {
      const own = bindings.filter(({ policyName }) => policyName === name);
      return own.length === 0 ? [] : [{ policy: compiledPolicy(object), bindings: own }];
    });
  }
}

function compiledPolicy(object: JsonObject): AdmissionPolicy {
  const cached = compiled.get(object) ?? readPolicy(object);
  compiled.set(object, cached);
  return cached;
}
