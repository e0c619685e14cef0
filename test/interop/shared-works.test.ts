import { setTimeout as pause } from 'node:timers/promises';
import { drawn } from '@berth/test-kit/seeded-random';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedWorksFleet } from '../e2e/shared-works-fleet.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

/** Two commits and a fault each. */
const ROUNDS = Number(process.env['BERTH_WORK_FAULTS'] ?? 5);
const NAMESPACES = Number(process.env['BERTH_WORK_NAMESPACES'] ?? 60);
/** Longer than the leases of the fleet. */
const LONG_MS = 9_000;
const FAULTS = ['killed', 'ended', 'stopped for long', 'stopped shortly'] as const;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))(
  'three controllers that share the works of a real hub',
  () => {
    let hub: RealHub;
    let fleet: SharedWorksFleet;
    beforeEach(async () => {
      hub = await RealHub.start();
      fleet = new SharedWorksFleet(hub.api, hub.plane.kubeconfig, NAMESPACES);
      fleet.commit('0', 2);
      for (let at = 0; at < 3; at++) fleet.start();
      await fleet.untilShared();
      await fleet.untilDone('0', 2);
      await fleet.watchDeletions();
    });
    afterEach(async () => {
      await fleet?.close();
      await hub?.close();
    });

    it('lose no work, and write none twice, while one after the other is killed, ended or stopped', async () => {
      const random = drawn();
      const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
      let clusters = 2;
      for (let round = 1; round <= ROUNDS; round++) {
        const [fault, victim] = [pick(FAULTS), pick(fleet.controllers)];
        const before = await fleet.uids();
        const next = 2 + Math.floor(random() * 3);
        fleet.deleted.length = 0;
        fleet.commit(`${round}`, next);
        // fixed wait: the fault comes at any moment of the commit
        await pause(random() * 1_500);
        if (fault === 'killed' || fault === 'ended') {
          await victim.end(fault === 'killed' ? 'SIGKILL' : 'SIGTERM');
          // fixed wait: others take the shares of a process that is away
          await pause(random() * LONG_MS);
        } else {
          victim.signal('SIGSTOP');
          // fixed wait: so long the process stands still
          await pause(fault === 'stopped for long' ? LONG_MS : random() * 3_000);
          victim.signal('SIGCONT');
        }
        await fleet.untilDone(`${round}`, next);
        const after = await fleet.uids();
        const lost = [...before].filter((uid) => !after.has(uid)).length;
        const what = `round ${round}: one was ${fault}, ${clusters} clusters became ${next}`;
        expect(lost, what).toBe(NAMESPACES * Math.max(0, clusters - next));
        await expect.poll(() => fleet.deleted.length, { message: what }).toBe(lost);
        clusters = next;
        await fleet.untilShared();
      }
    });
  },
);
