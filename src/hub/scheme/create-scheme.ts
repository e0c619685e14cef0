import { builtinDefinitions } from './builtin/builtin-definitions.ts';
import { ocmDefinitions } from './ocm-definitions.ts';
import type { ResourceDefinition } from '../schema/resource-definition.ts';
import { Scheme } from './scheme.ts';

/** Definitions never change, so all clusters of a process share them: compiling the schemas takes longer than the rest of a member. */
let shared: readonly ResourceDefinition[] | undefined;

/** A scheme with everything that is served from the start. One per cluster: custom resources are added to it. */
export function createScheme(): Scheme {
  shared ??= [...builtinDefinitions(), ...ocmDefinitions()];
  return new Scheme(shared);
}
