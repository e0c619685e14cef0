import type { World } from '../../src/render/applicationset/world/world.ts';

/** An Argo CD that knows no clusters, and in which no plugin answers. */
export const EMPTY_WORLD: World = {
  namespace: 'argocd',
  clusters: [],
  configMap: () => undefined,
  secret: () => undefined,
  resources: () => undefined,
  askPlugin: () => {
    throw new Error('no plugin answers here');
  },
};
