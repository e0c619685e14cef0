import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { LEASE } from '@berth/kube/model/kinds';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { SharedWorksFleet } from './shared-works-fleet.ts';

describe('three controllers that share the works', () => {
  let dir: string;
  let hub: HubProcess;
  let api: HttpKubeApi;
  let fleet: SharedWorksFleet;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-hub-'));
    hub = await startHubProcess(dir);
    api = new HttpKubeApi({ config: loadKubeConfig({ file: hub.kubeconfig }), clock: systemClock });
    fleet = new SharedWorksFleet(api, hub.kubeconfig, 40);
    fleet.commit('1', 2);
    for (let at = 0; at < 3; at++) fleet.start();
    await fleet.untilShared();
    await fleet.untilDone('1', 2);
    await fleet.watchDeletions();
  });
  afterEach(async () => {
    await fleet.close();
    api.close();
    await hub.end('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  it('each write the works of their namespaces', async () => {
    const before = await fleet.uids();
    fleet.commit('2', 3);
    await fleet.untilDone('2', 3);
    for (const { log } of fleet.controllers) expect(/"action":"(?:created|updated)"/.test(log)).toBe(true);
    const after = await fleet.uids();
    expect([...before].filter((uid) => !after.has(uid))).toEqual([]);
    expect(fleet.deleted).toEqual([]);
    fleet.commit('2', 2);
    await fleet.untilDone('2', 2);
    expect([...(await fleet.uids())].filter((uid) => !after.has(uid))).toEqual([]);
  });

  it('those of one that is killed are written by the others, and it gets its part again', async () => {
    const [killed] = fleet.controllers;
    await killed?.end('SIGKILL');
    fleet.commit('2', 2);
    await fleet.untilDone('2', 2);
    killed?.start();
    await fleet.untilShared();
    fleet.commit('3', 3);
    await fleet.untilDone('3', 3);
    expect(fleet.deleted).toEqual([]);
  });

  it('one that stands still and goes on writes only what is its own again', async () => {
    const leader = fleet.controllers.find(({ log }) => log.includes('this process leads now'));
    const stopped = [leader, fleet.controllers.find((one) => one !== leader)];
    fleet.commit('2', 2);
    for (const controller of stopped) controller?.signal('SIGSTOP');
    await fleet.untilDone('2', 2);
    fleet.commit('3', 3);
    await fleet.untilDone('3', 3);
    for (const controller of stopped) controller?.signal('SIGCONT');
    // Another one led meanwhile.
    expect(await leader?.ended()).toBe(3);
    leader?.start();
    await fleet.untilShared();
    await fleet.untilDone('3', 3);
    expect(fleet.deleted).toEqual([]);
  });

  it('one that ends hands its shares to the others at once, and leaves nothing behind', async () => {
    const [ended] = fleet.controllers.splice(0, 1);
    expect(await ended?.end('SIGTERM')).toBe(0);
    await ended?.remove();
    await fleet.untilShared();
    const lease = await api.get(LEASE, { namespace: 'berth-system', name: 'berth-fleet-works' });
    expect(Object.keys(lease?.metadata.annotations ?? {})).toHaveLength(2);
  });
});
