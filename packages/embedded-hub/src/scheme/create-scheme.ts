import { builtinDefinitions } from './builtin/builtin-definitions.ts';
import { ocmDefinitions } from './ocm-definitions.ts';
import type { ResourceDefinition } from '../schema/resource-definition.ts';
import { Scheme } from './scheme.ts';

/** Definitions never change, so all clusters of a process share them: compiling the schemas takes longer than the rest of a member. */
let shared: readonly ResourceDefinition[] | undefined;

/**
 * A scheme with all built-in resources. Each cluster has its own, to which custom resources are
 * added.
 */
export function createScheme(): Scheme {
  shared ??= [...builtinDefinitions(), ...ocmDefinitions()];
  return new Scheme(shared);
}
