import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock } from '../../src/adapters/clock/system-clock.ts';
import { loadKubeConfig } from '../../src/adapters/kube/config/load-kube-config.ts';
import { HttpKubeApi } from '../../src/adapters/kube/http-kube-api.ts';
import { fieldsThatOthersAdd } from '../agent/apply/added-field-scenarios.ts';
import { createCrds } from './create-crds.ts';
import { ocmCrds } from './ocm-crds.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('an agent on a real cluster', () => {
  let server: ControlPlane;
  let api: HttpKubeApi;
  beforeAll(async () => {
    server = await startControlPlane();
    await createCrds(server.client, ocmCrds());
    api = new HttpKubeApi({ config: loadKubeConfig({ file: server.kubeconfig }), clock: systemClock });
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  describe('fields that others add to the objects of a work', () => fieldsThatOthersAdd(() => api));
});
