import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { LEASE, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { ControllerProcess } from './controller-process.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';

const KEY = { namespace: 'berth-system', name: 'berth-fleet' };
const PLACEMENTS = Array.from({ length: 60 }, (_, at) => `p${at}`);

interface LeaseSpec {
  readonly holderIdentity: string;
  readonly leaseTransitions: number;
}

describe('two controllers for one repository on one hub', () => {
  let hubDir: string;
  let hub: HubProcess;
  let api: HttpKubeApi;
  let git: GitFixture;
  let started: ControllerProcess[];

  beforeEach(async () => {
    hubDir = mkdtempSync(join(tmpdir(), 'berth-hub-'));
    await startHub();
    git = new GitFixture();
    started = [];
    commit(1);
  });
  afterEach(async () => {
    await Promise.all(started.map((controller) => controller.remove()));
    api.close();
    await hub.end('SIGKILL');
    git.remove();
    rmSync(hubDir, { recursive: true, force: true });
  });

  async function startHub(listen?: string): Promise<void> {
    hub = await startHubProcess(hubDir, listen === undefined ? [] : ['--listen', listen]);
    api = new HttpKubeApi({ config: loadKubeConfig({ file: hub.kubeconfig }), clock: systemClock });
  }

  /** Every placement then asks for so many clusters. */
  function commit(count: number): void {
    const placements = PLACEMENTS.map((name) => placement(name, { numberOfClusters: count }));
    git.commit({ ...baseFiles, 'p.yaml': yaml(...placements) });
  }

  function start(): ControllerProcess {
    const kubeconfig = ['--kubeconfig', hub.kubeconfig];
    const args = ['--repo', git.path, ...kubeconfig, '--poll', '200ms', '--removal-budget', '100%'];
    const controller = new ControllerProcess(args);
    started.push(controller);
    return controller;
  }

  /** How many clusters the pages of each placement list, and what their status says, in brief. */
  async function published(): Promise<string> {
    const pages = (await api.list(PLACEMENT_DECISION, { namespace: 'team-a' })).items;
    const counts = new Map<string, number>();
    for (const page of pages) {
      const name = page.metadata.labels?.['cluster.open-cluster-management.io/placement'] ?? '';
      const { decisions = [] } = (page['status'] ?? {}) as { decisions?: readonly unknown[] };
      counts.set(name, (counts.get(name) ?? 0) + decisions.length);
    }
    const said = (await api.list(PLACEMENT, { namespace: 'team-a' })).items.map(
      (object) => (object as unknown as Placement).status?.numberOfSelectedClusters,
    );
    const distinct = (values: Iterable<unknown>) => [...new Set(values)].sort().join();
    return `${counts.size} placements list ${distinct(counts.values())} and say ${distinct(said)}`;
  }
  const all = (count: number) => `${PLACEMENTS.length} placements list ${count} and say ${count}`;

  async function lease(): Promise<LeaseSpec> {
    return (await api.get(LEASE, KEY))?.['spec'] as LeaseSpec;
  }

  async function bothReady(): Promise<[ControllerProcess, ControllerProcess]> {
    const leader = start();
    await leader.whenReady('leading');
    await expect.poll(published).toBe(all(1));
    const standby = start();
    expect(await standby.whenReady('standby')).toBe((await lease()).holderIdentity);
    return [leader, standby];
  }

  /** Writes to anything but Leases from a version of the hub on: every write makes the hub's version greater by one. */
  async function countOtherWrites(during: () => Promise<void>): Promise<number> {
    const from = Number((await api.list(LEASE)).resourceVersion);
    const leaseVersions: number[] = [];
    const stop = new AbortController();
    const watching = (async () => {
      const options = { resourceVersion: String(from), signal: stop.signal };
      for await (const event of api.watch(LEASE, options))
        if (event.type !== 'bookmark') leaseVersions.push(Number(event.object.metadata.resourceVersion));
    })();
    await during();
    const until = Number((await api.list(LEASE)).resourceVersion);
    // Who leads renews: then the watch has shown all that came before.
    await expect.poll(() => leaseVersions.some((version) => version > until)).toBe(true);
    stop.abort();
    await watching;
    return until - from - leaseVersions.filter((version) => version <= until).length;
  }

  it('a leader that is killed is followed by the one that stands by', async () => {
    const [leader, standby] = await bothReady();
    const { holderIdentity: first, leaseTransitions } = await lease();
    await leader.end('SIGKILL');
    commit(2);
    await standby.whenReady('leading');
    await expect.poll(published).toBe(all(2));
    const after = await lease();
    expect(after.leaseTransitions).toBe(leaseTransitions + 1);
    expect(after.holderIdentity).not.toBe(first);
    expect(standby.log).not.toContain('unexpectedly');
  });

  it('a leader that is stopped while it publishes, and goes on when another leads, writes nothing any more and ends with code 3', async () => {
    const [leader, standby] = await bothReady();
    commit(2);
    await expect.poll(published, { interval: 5 }).not.toBe(all(1));
    leader.signal('SIGSTOP');
    await standby.whenReady('leading');
    await expect.poll(published).toBe(all(2));
    commit(3);
    await expect.poll(published).toBe(all(3));
    // fixed wait: another process, whose rest only shows in what it does not write
    const quiet = () => countOtherWrites(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
    // Records are written a second later.
    await expect.poll(quiet).toBe(0);
    const writes = await countOtherWrites(async () => {
      leader.signal('SIGCONT');
      expect(await leader.ended()).toBe(3);
    });
    expect(writes).toBe(0);
    expect(leader.log).toContain('the lease was lost; this process stopped writing');
    expect(await published()).toBe(all(3));
    leader.start();
    expect(await leader.whenReady('standby')).toBe((await lease()).holderIdentity);
  });

  it('a leader that gets SIGTERM gives its lease to the other one', async () => {
    const [leader, standby] = await bothReady();
    commit(2);
    await expect.poll(published, { interval: 5 }).not.toBe(all(1));
    expect(await leader.end('SIGTERM')).toBe(0);
    expect(leader.log).toContain('lease released');
    await standby.whenReady('leading');
    await expect.poll(published).toBe(all(2));
    expect(await standby.end('SIGTERM')).toBe(0);
    expect((await lease()).holderIdentity).toBe('');
    // Nobody has to be waited for.
    leader.start();
    commit(3);
    await leader.whenReady('leading');
    await expect.poll(published).toBe(all(3));
  });

  it('a hub that is away for longer than the lease is published to again by one of them', async () => {
    const [leader, standby] = await bothReady();
    const listen = new URL(hub.url).host;
    api.close();
    await hub.end('SIGKILL');
    await expect.poll(() => leader.readyz()).toMatch(/^200 ok\nlapsed/);
    // Others would have taken it by now.
    // fixed wait: a lease of other processes ends by their own clocks
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    await startHub(listen);
    commit(2);
    await expect.poll(published, { timeout: OUTAGE_PATIENCE_MS }).toBe(all(2));
    const roles = await Promise.all([leader, standby].map((controller) => controller.readyz()));
    const leading = roles.filter((text) => text.startsWith('200 ok\nleading'));
    expect(leading, roles.join()).toHaveLength(1);
    const { leaseTransitions } = await lease();
    // Mostly the one that led goes on; where the other one was faster it has to end.
    if (leaseTransitions > 0) expect(await leader.ended()).toBe(3);
    else expect(leader.log).toContain('lease renewed, writing continues');
  });

  it('one that follows other sources is not kept from its own', async () => {
    await bothReady();
    const other = new GitFixture();
    other.commit({ 'n.yaml': yaml({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-b' } }) });
    const flags = ['--kubeconfig', hub.kubeconfig, '--schedule', 'upstream', '--no-works'];
    const second = new ControllerProcess(['--repo', `apps=${other.path}`, ...flags]);
    started.push(second);
    await second.whenReady('leading');
    const leases = (await api.list(LEASE)).items.map(({ metadata }) => metadata.name);
    // Beside them, each controller announces itself.
    const elections = leases.filter((name) => !name.startsWith('berth-controller-'));
    expect(elections.sort()).toEqual(['berth-apps', 'berth-fleet']);
    other.remove();
  });
});
