import type { GeneratorInputs } from '../../src/inputs/generator-inputs.ts';

/** The inputs of an Argo CD without clusters and plugins. */
export const EMPTY_INPUTS: GeneratorInputs = {
  namespace: 'argocd',
  clusters: [],
  configMap: () => undefined,
  secret: () => undefined,
  resources: () => undefined,
  callPlugin: () => {
    throw new Error('no plugin answers here');
  },
};
