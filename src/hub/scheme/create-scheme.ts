import { builtinDefinitions } from './builtin/builtin-definitions.ts';
import { ocmDefinitions } from './ocm/ocm-definitions.ts';
import { Scheme } from './scheme.ts';

/** A scheme with everything that is served from the start. One per cluster: custom resources are added to it. */
export function createScheme(): Scheme {
  return new Scheme([...builtinDefinitions(), ...ocmDefinitions()]);
}
