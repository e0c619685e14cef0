import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveController } from '../../../src/app/serve/serve-controller.ts';
import { type KindInfo, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import type { KubeApi, ObjectKey, WriteOptions } from '@berth/kube/model/kube-api';
import { TransientError } from '@berth/runtime/errors';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredLeadership } from '../../fakes/steered-leadership.ts';
import { baseFiles, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** A client that writes the pages of one placement only, once that is named. */
class PartlyCutOffApi extends InterceptedKubeApi {
  only: string | undefined;

  protected override write<T>(request: () => Promise<T>): Promise<T> {
    return request();
  }

  override async mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions) {
    const isOther = this.only !== undefined && !key.name.startsWith(`${this.only}-`);
    if (kind.plural === PLACEMENT_DECISION.plural && isOther)
      throw new TransientError('cut off', { code: 'kube.network', subject: 'hub' });
    return super.mergePatch(kind, key, patch, options);
  }
}

/** Two, four and four of six clusters. When two clusters go, the order of the moves decides where `a` goes. */
const placements = yaml(
  ...Object.entries({ a: 2, b: 4, c: 4 }).map(([name, count]) =>
    placement(name, { numberOfClusters: count }),
  ),
);

describe('a commit of which some pages are published', () => {
  let fleet: ServedFleet;
  let dataDir: string;
  let leadership: SteeredLeadership;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    dataDir = mkdtempSync(join(tmpdir(), 'berth-next-'));
  });
  afterEach(async () => {
    await fleet.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const clusters = async (name: string) => [...(await fleet.decisions(name))].sort().join(' ');
  const reaches = (name: string, names: string) =>
    fleet.until(async () => (await clusters(name)) === names || undefined);

  async function publish(api: KubeApi = fleet.hub.api) {
    leadership = new SteeredLeadership();
    fleet.git.commit({ ...baseFiles, 'p.yaml': placements });
    await fleet.serve({ embedded: false, api, leadership });
    leadership.take('-', 'first');
    await reaches('a', 'c1 c2');
    await reaches('c', 'c1 c2 c3 c4');
  }

  /** Two of the clusters go, and only the pages of `c` can be written. */
  async function interrupt(api: PartlyCutOffApi): Promise<void> {
    await publish(api);
    api.only = 'c';
    fleet.git.commit({ 'clusters.yaml': retired(2) });
    await reaches('c', 'c3 c4 c5 c6');
    expect(await clusters('a')).toBe('c1 c2');
  }

  /** Where it goes first is where it stays. */
  async function leaves(): Promise<void> {
    await fleet.until(async () => (await clusters('a')) !== 'c1 c2' || undefined);
    expect(await clusters('a')).toBe('c5 c6');
  }

  it('ends where the plan says if nothing comes between', async () => {
    await publish();
    fleet.git.commit({ 'clusters.yaml': retired(2) });
    await leaves();
  });

  it('ends there if the hub takes the rest later, and everything is decided again meanwhile', async () => {
    const api = new PartlyCutOffApi(fleet.hub.api);
    await interrupt(api);
    fleet.git.commit({ 'more.yaml': yaml(placement('more', { numberOfClusters: 1 })) });
    await fleet.event('decided', ({ placement: name }) => name === 'team-a/more');
    api.only = undefined;
    await leaves();
  });

  it('ends there if the lease lapses, and everything is decided again meanwhile', async () => {
    const api = new PartlyCutOffApi(fleet.hub.api);
    await interrupt(api);
    leadership.lapse();
    const marks = { [SCHEDULER_ANNOTATION]: 'berth', [SCHEDULING_DISABLE_ANNOTATION]: 'true' };
    await fleet.hub.api.create(PLACEMENT, placement('more', { numberOfClusters: 1 }, marks));
    await fleet.event('decided', ({ placement: name }) => name === 'team-a/more');
    api.only = undefined;
    leadership.renew();
    await leaves();
  });

  it('ends there if another process goes on, on another machine', async () => {
    await interrupt(new PartlyCutOffApi(fleet.hub.api));
    await fleet.stop();
    const next = new SteeredLeadership();
    const running = await serveController({
      ...{ api: fleet.hub.api, leadership: next, sources: [{ url: fleet.git.path }], dataDir },
      ...{ clock: fleet.clock, log: new SilentLogger(), random: Math.random, engineVersion: 'test' },
      ...{ env: process.env, pollIntervalMs: 50 },
    });
    next.take('first', 'second');
    await leaves();
    await running.close();
  });
});
