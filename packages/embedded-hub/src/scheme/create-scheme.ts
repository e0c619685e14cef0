import type { JsonObject } from '../json/json-value.ts';
import type { ResourceDefinition } from '../schema/resource-definition.ts';
import { builtinDefinitions } from './builtin/builtin-definitions.ts';
import { definitionFromCrd } from './crd.ts';
import { Scheme } from './scheme.ts';

/** Kinds that are served from the start besides those of Kubernetes. */
export interface GivenKinds {
  /** CustomResourceDefinitions. They are not stored: a stored one of the same name replaces one of these. */
  readonly definitions: readonly JsonObject[];
  /**
   * How objects are converted between versions that differ by more than their apiVersion, by `PLURAL.GROUP`. An InputError
   * says which object cannot be converted.
   */
  readonly conversions: Readonly<Record<string, (object: JsonObject, apiVersion: string) => JsonObject>>;
}

export const NO_KINDS: GivenKinds = { definitions: [], conversions: {} };

/** Definitions never change, so all clusters of a process share them: compiling the schemas takes longer than the rest of a member. */
const shared = new WeakMap<GivenKinds, readonly ResourceDefinition[]>();

/**
 * A scheme with all built-in resources and the given kinds. Each cluster has its own, to which
 * custom resources are added.
 */
export function createScheme(kinds: GivenKinds = NO_KINDS): Scheme {
  const known = shared.get(kinds) ?? [...builtinDefinitions(), ...givenDefinitions(kinds)];
  shared.set(kinds, known);
  return new Scheme(known);
}

function givenDefinitions({ definitions, conversions }: GivenKinds): readonly ResourceDefinition[] {
  return definitions.map((crd) => {
    const definition = definitionFromCrd(crd);
    const convert = conversions[definition.storageKey];
    return convert === undefined
      ? definition
      : { ...definition, conversion: { kind: 'built-in', convert } as const };
  });
}
