import { afterAll, beforeAll, describe } from 'vitest';
import { CONTROL_PLANE_PROGRAMS } from '../peers/control-plane.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { RealHub } from '../peers/real-hub.ts';
import { decisionRows } from './decision-rows.ts';
import { GeneratorWorld } from './generator-world.ts';
import { pluginRows } from './plugin-rows.ts';

describe.skipIf(!hasPeers('argocd', 'kube-controller-manager', ...CONTROL_PLANE_PROGRAMS))(
  'Argo CD’s ApplicationSet controller on a real hub',
  () => {
    let world: GeneratorWorld | undefined;
    const started = (): GeneratorWorld => {
      if (world === undefined) throw new Error('not started');
      return world;
    };
    beforeAll(async () => {
      const hub = await RealHub.start();
      // Pages of a placement that is deleted go with it.
      await hub.collectGarbage();
      world = await GeneratorWorld.start({ kubeconfig: hub.plane.kubeconfig, close: () => hub.close() });
    });
    afterAll(() => world?.close());

    pluginRows(started);
    decisionRows(started);
  },
);
