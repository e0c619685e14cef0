import type { JsonObject } from '../json/json-value.ts';
import type { ResourceDefinition } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { mayMatchResource } from '../webhooks/admission/match-rules.ts';
import { ADMISSION_GROUP } from '../webhooks/admission/webhook-configurations.ts';
import type { AdmissionPolicy, PolicyBinding } from './admission-policy.ts';
import { readBinding, readPolicy } from './admission-policy.ts';

/** A policy that is bound, with its bindings by name. */
export interface BoundPolicy {
  readonly policy: AdmissionPolicy;
  readonly bindings: readonly PolicyBinding[];
}

export const POLICY_STORAGE = `validatingadmissionpolicies.${ADMISSION_GROUP}`;
const BINDING_STORAGE = `validatingadmissionpolicybindings.${ADMISSION_GROUP}`;

const NONE: readonly BoundPolicy[] = [];

/** Stored objects never change, so what was compiled from one is valid while it is stored. */
const compiled = new WeakMap<JsonObject, AdmissionPolicy>();

/**
 * The policies that are in force, compiled once. Which of them may be about a resource at all is found once for each resource, so that a
 * write which no policy is about costs one look into a map.
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

  /** To be called after every write of a policy or a binding. */
  forget(): void {
    this.#bound = undefined;
    this.#byDefinition = new WeakMap();
  }

  /** Those that may be about objects of the resource, in whatever version; by name. */
  about(definition: ResourceDefinition): readonly BoundPolicy[] {
    const known = this.#byDefinition.get(definition);
    if (known !== undefined) return known;
    const found = this.#find(definition);
    this.#byDefinition.set(definition, found);
    return found;
  }

  #find(definition: ResourceDefinition): readonly BoundPolicy[] {
    // A wrong policy, and a wrong webhook, must stay repairable.
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
  const known = compiled.get(object) ?? readPolicy(object);
  compiled.set(object, known);
  return known;
}
