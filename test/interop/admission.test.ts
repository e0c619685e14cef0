import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  MUTATING_CONFIGURATION,
  VALIDATING_CONFIGURATION,
} from '../../src/core/registration/webhooks/webhook-configurations.ts';
import { SECRET } from '@berth/kube/model/kinds';
import { admissionContract, makeUsers, whenAsked } from '../controllers/admission/admission-contract.ts';
import { printedRbac } from '../app/serve/restricted-controller.ts';
import { rbacPath } from '../fakes/rbac-rules.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { freePort } from './peers/free-port.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const CONTROLLER = 'system:serviceaccount:berth-system:berth';
const NAME = { namespace: '', name: 'berth-admission' };
const DUTIES = {
  applies: false,
  schedule: 'upstream',
  works: false,
  embedded: false,
  admission: {},
} as const;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('admission of a real kube-apiserver by Berth', () => {
  let hub: RealHub;
  let berth: { close(): Promise<void> };
  let port: number;
  const users = new Map<string, HttpKubeApi>();
  const as = (user: string, groups: readonly string[] = []): HttpKubeApi => {
    const config = loadKubeConfig({ file: hub.plane.kubeconfig });
    const known =
      users.get(user) ?? new HttpKubeApi({ config, clock: systemClock, impersonate: { user, groups } });
    users.set(user, known);
    return known;
  };
  const startBerth = async (): Promise<void> => {
    berth = await hub.serve({
      api: as(CONTROLLER, ['system:serviceaccounts', 'system:authenticated']),
      schedule: 'upstream',
      works: false,
      admission: {
        host: '127.0.0.1',
        port,
        address: { kind: 'url', url: `https://127.0.0.1:${port}` },
      },
    });
  };
  const world = () => ({ admin: hub.api, as, startBerth, stopBerth: () => berth.close() });

  beforeAll(async () => {
    hub = await RealHub.start();
    port = await freePort();
    // With the printed rights and no others.
    for (const object of printedRbac({ ...DUTIES, secrets: [] })) {
      const at = rbacPath(object);
      await hub.call('POST', at, object);
    }
    await startBerth();
    await makeUsers(world());
  });
  afterAll(async () => {
    for (const user of users.values()) user.close();
    await hub?.close();
  });

  admissionContract(world);

  it('puts back what somebody deletes', async () => {
    await hub.api.delete(VALIDATING_CONFIGURATION, NAME);
    await hub.api.delete(MUTATING_CONFIGURATION, NAME);
    await berth.close();
    await startBerth();
    await expect.poll(() => hub.api.get(VALIDATING_CONFIGURATION, NAME)).toBeDefined();
    await expect.poll(() => hub.api.get(MUTATING_CONFIGURATION, NAME)).toBeDefined();
  });

  it('asks with a new certificate after the Secret was deleted', async () => {
    await berth.close();
    await hub.api.delete(SECRET, { namespace: 'berth-system', name: 'berth-admission' });
    await startBerth();
    await whenAsked(world());
  });
});
