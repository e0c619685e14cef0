import { afterAll, beforeAll, describe } from 'vitest';
import { CONTROL_PLANE_PROGRAMS } from '../peers/control-plane.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { startRealHub } from '../peers/shared-hubs.ts';
import { decisionRows } from './decision-rows.ts';
import { GeneratorWorld } from './generator-world.ts';
import { pluginRows } from './plugin-rows.ts';
import { setRows } from './set-rows.ts';

describe.skipIf(!hasPeers('argocd', 'kube-controller-manager', ...CONTROL_PLANE_PROGRAMS))(
  'Argo CD’s ApplicationSet controller on a real hub',
  () => {
    let world: GeneratorWorld | undefined;
    const started = (): GeneratorWorld => {
      if (world === undefined) throw new Error('not started');
      return world;
    };
    beforeAll(async () => {
      world = await GeneratorWorld.start(await startRealHub());
    });
    afterAll(() => world?.close());

    pluginRows(started);
    decisionRows(started);
    setRows(started);
  },
);
