import { describe, expect, it, onTestFinished } from 'vitest';
import { hasPeers } from '../peers/peer-programs.ts';
import { startEmbeddedMatrixHub } from './matrix-hub.ts';
import { CLUSTER, MatrixWorld, PATIENT } from './matrix-world.ts';

/** Of the agent: about two seconds each. */
const RENEWALS = 6;

describe.skipIf(!hasPeers('ocm/registration'))('our controllers beside those of OCM at one hub', () => {
  it('write nothing while the agent renews its lease and nothing else happens', async () => {
    const hub = await startEmbeddedMatrixHub();
    await hub.signForAnHour();
    const world = await MatrixWorld.start(hub, 'ours');
    onTestFinished(() => world.close());
    await world.startControllers('OCM');
    await world.startControllers('ours');
    await world.startAgent();
    await expect.poll(() => world.hub.requests(CLUSTER), PATIENT).toHaveLength(1);
    await world.accept();
    await expect.poll(() => world.available(), PATIENT).toBe('True');
    await expect.poll(() => world.taints(), PATIENT).toEqual([]);
    // Both have seen the cluster well when nothing changes any more during a whole row of renewals.
    const isAtRest = async (): Promise<boolean> => {
      const before = await world.versions();
      for (let renewal = 0; renewal < RENEWALS; renewal++) {
        const lease = await world.lease();
        await expect.poll(() => world.lease(), PATIENT).not.toBe(lease);
      }
      return (await world.versions()) === before;
    };
    await expect.poll(isAtRest, PATIENT).toBe(true);
  });
});
