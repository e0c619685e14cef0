import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import { type RefreshEvent, startRefresh } from '../../../../src/controllers/argocd/refresh/start-refresh.ts';
import { APPLICATION_SET } from '../../../../src/core/argocd/argocd-kinds.ts';
import { InputError, TransientError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { onAbort } from '@berth/runtime/loop/sleep';
import { PublishedPlacements } from '../../../../src/core/publish/pages/published-placements.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { PAGES_CONFIG, pluginSet, resourceSet } from '../argocd-objects.ts';

const REFRESH = 'argocd.argoproj.io/application-set-refresh';

/** A hub in memory with ApplicationSets, and the refresher of one process after the other. */
class World {
  readonly hub = new FakeKubeApi();
  readonly clock = new FakeClock();
  readonly events: RefreshEvent[] = [];
  published = new PublishedPlacements();
  #running: { warnings(): readonly string[]; readonly pending: number; close(): Promise<void> } | undefined;
  #supervisor: Supervisor | undefined;
  isLeading = true;

  async create(): Promise<this> {
    this.hub.addKind(APPLICATION_SET);
    this.hub.addKind(CONFIG_MAP);
    await this.hub.create(CONFIG_MAP, PAGES_CONFIG);
    await this.hub.create(APPLICATION_SET, pluginSet('web', 'team-a/web'));
    await this.hub.create(APPLICATION_SET, pluginSet('db', 'team-a/db'));
    await this.hub.create(APPLICATION_SET, resourceSet('pages', 'shop'));
    return this;
  }

  async start(perSecond = 100): Promise<void> {
    const { hub, clock, published } = this;
    const shared = { clock, random: () => 0.5, log: new SilentLogger() };
    const supervisor = new Supervisor(shared);
    const cache = new ObjectCache({ api: hub, ...shared });
    this.#supervisor = supervisor;
    this.#running = startRefresh({
      ...shared,
      ...{ hub, cache, published, argocdNamespace: 'argocd', pluginConfigMaps: ['berth'], perSecond },
      mayBegin: (signal) =>
        this.isLeading ? Promise.resolve() : new Promise((resolve) => onAbort(signal, resolve)),
      onRefresh: (event) => this.events.push(event),
    });
    cache.start(supervisor);
    await clock.advance(1_000);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#running?.close(), this.#supervisor?.close()]);
  }

  /** The process ends, and another one reads what is published. */
  async restart(decisions: Record<string, readonly string[]>): Promise<void> {
    await this.stop();
    this.published = new PublishedPlacements();
    await this.start();
    for (const [placement, clusters] of Object.entries(decisions)) this.publish(placement, clusters);
    this.published.markComplete();
    await this.clock.advance(1_000);
  }

  publish(placement: string, clusters: readonly string[]): void {
    const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
    this.published.set(placement, [{ name: 'page', group: { name: '', index: 0 }, decisions }]);
  }

  /** Names of the ApplicationSets that were asked since the last call. */
  asked(): readonly string[] {
    const lines = this.hub.requests.filter((line) => line.startsWith('PATCH applicationsets'));
    this.hub.requests.length = 0;
    return lines.map((line) => line.split('/')[1] ?? '').sort();
  }

  annotations(name: string): Readonly<Record<string, string>> {
    const found = this.hub.peek(APPLICATION_SET).find(({ metadata }) => metadata.name === name);
    return found?.metadata.annotations ?? {};
  }

  /**
   * What the ApplicationSet controller does after a reconcile.
   * @param error of a generator; undefined: it succeeded
   */
  async argo(name: string, error?: string): Promise<void> {
    const key = { namespace: 'argocd', name };
    const status = error === undefined ? 'False' : 'True';
    const conditions = [{ type: 'ErrorOccurred', status, reason: 'x', message: error ?? '' }];
    const annotations = error === undefined ? { [REFRESH]: null } : {};
    const answered = this.hub.mergePatch(APPLICATION_SET, key, {
      metadata: { annotations },
      status: { conditions },
    });
    // Not one that Berth asked for.
    this.hub.requests.pop();
    await answered;
    await this.clock.advance(100);
  }

  /** All that were asked generate, so that nothing is pending. */
  async settle(): Promise<void> {
    for (const name of ['web', 'db', 'pages']) await this.argo(name);
    await this.clock.advance(3_000);
    this.asked();
    this.events.length = 0;
  }

  warnings(): readonly string[] {
    return this.#running?.warnings() ?? [];
  }

  get pending(): number {
    return this.#running?.pending ?? 0;
  }
}

const FLEET = { 'team-a/web': ['c1'], 'team-a/db': ['c2'], 'argocd/shop': ['c3'] };

describe('the refresh of ApplicationSets', () => {
  let world: World;
  beforeEach(async () => {
    world = await new World().create();
    await world.start();
    for (const [placement, clusters] of Object.entries(FLEET)) world.publish(placement, clusters);
    await world.clock.advance(1_000);
  });
  afterEach(() => world.stop());

  it('waits until everything is published, and then asks each once', async () => {
    expect(world.asked()).toEqual([]);
    world.published.markComplete();
    await world.clock.advance(1_000);
    expect(world.asked()).toEqual(['db', 'pages', 'web']);
    await world.clock.advance(10_000);
    expect(world.asked()).toEqual([]);
  });

  describe('when all have answered', () => {
    beforeEach(async () => {
      world.published.markComplete();
      await world.clock.advance(1_000);
      await world.settle();
    });

    it('asks exactly the one that uses what changed', async () => {
      world.publish('team-a/web', ['c1', 'c4']);
      await world.clock.advance(1_000);
      expect(world.asked()).toEqual(['web']);
      expect(world.annotations('web')[REFRESH]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      await world.argo('web');
      expect(world.events).toEqual([
        { applicationSet: 'argocd/web', outcome: 'requested', placements: ['team-a/web'] },
        {
          applicationSet: 'argocd/web',
          outcome: 'confirmed',
          placements: ['team-a/web'],
          tookMs: expect.any(Number) as number,
        },
      ]);
      expect(world.pending).toBe(0);
    });

    it('asks nothing when the same is published again', async () => {
      for (const [placement, clusters] of Object.entries(FLEET)) world.publish(placement, clusters);
      await world.clock.advance(60_000);
      expect(world.asked()).toEqual([]);
    });

    it('asks once for many changes within a moment, and again no sooner than after two seconds', async () => {
      for (const clusters of [['c4'], ['c5'], ['c6']]) world.publish('argocd/shop', clusters);
      await world.clock.advance(300);
      expect(world.asked()).toEqual(['pages']);
      await world.argo('pages');
      world.publish('argocd/shop', ['c7']);
      await world.clock.advance(1_000);
      expect(world.asked()).not.toContain('pages');
      await world.clock.advance(1_500);
      expect(world.asked()).toEqual(['pages']);
    });

    it('leaves Argo CD alone when a placement is no longer published', async () => {
      world.published.set('team-a/web', []);
      await world.clock.advance(60_000);
      expect(world.asked()).toEqual([]);
    });

    it('asks again, less and less often, while the controller does not answer, and says so', async () => {
      world.publish('team-a/web', ['c4']);
      await world.clock.advance(1_000);
      const first = world.annotations('web')[REFRESH];
      await world.clock.advance(16_000);
      expect(world.annotations('web')[REFRESH]).not.toBe(first);
      expect(world.asked()).toEqual(['web', 'web']);
      await world.clock.advance(600_000);
      expect(world.asked().length).toBeLessThan(8);
      expect(world.warnings()).toEqual([
        'argocd: ApplicationSet argocd/web is not refreshed: the ApplicationSet controller did not take the refresh; does it run?',
      ]);
      await world.argo('web');
      expect([world.pending, world.warnings()]).toEqual([0, []]);
    });

    it('asks again when a generator failed, and shows why', async () => {
      world.publish('team-a/web', ['c4']);
      await world.clock.advance(1_000);
      await world.argo('web', 'Berth cannot respond yet');
      expect(world.warnings()).toEqual([
        'argocd: ApplicationSet argocd/web is not refreshed: Berth cannot respond yet',
      ]);
      await world.clock.advance(16_000);
      expect(world.asked()).toEqual(['web', 'web']);
      await world.argo('web');
      expect(world.warnings()).toEqual([]);
    });

    it('writes nothing after a restart, and asks for what changed meanwhile', async () => {
      await world.restart(FLEET);
      expect(world.asked()).toEqual([]);
      await world.restart({ ...FLEET, 'team-a/db': ['c9'] });
      expect(world.asked()).toEqual(['db']);
    });

    it('goes on after a restart with what was not confirmed', async () => {
      world.publish('team-a/web', ['c4']);
      await world.clock.advance(1_000);
      world.asked();
      await world.restart({ ...FLEET, 'team-a/web': ['c4'] });
      expect(world.asked()).toEqual(['web']);
    });

    it('writes nothing while another process leads', async () => {
      world.isLeading = false;
      world.publish('team-a/web', ['c4']);
      await world.clock.advance(60_000);
      expect(world.asked()).toEqual([]);
    });

    it('tries again when the hub fails', async () => {
      const { hub } = world;
      const patch = hub.mergePatch.bind(hub);
      const failure = new TransientError('no answer', { code: 'kube.network', subject: 'hub' });
      hub.mergePatch = () => Promise.reject(failure);
      world.publish('team-a/web', ['c4']);
      await world.clock.advance(1_000);
      expect(world.warnings().join()).toContain('no answer');
      hub.mergePatch = patch;
      await world.clock.advance(60_000);
      expect(world.asked()).toContain('web');
    });
  });

  it('requests as many as Argo CD answers, and few while it does not', async () => {
    await world.stop();
    await world.start(1);
    world.published.markComplete();
    await world.clock.advance(500);
    const first = world.asked();
    expect(first).toHaveLength(2);
    await world.clock.advance(1_000);
    expect(world.asked()).toEqual([]);
    await world.argo(first[0] ?? '');
    const [third = '', ...more] = world.asked();
    expect([['web', 'db', 'pages'].toSorted(), more]).toEqual([[...first, third].toSorted(), []]);
    // Unanswered requests make room after two seconds.
    world.publish(`team-a/${first[0] === 'web' ? 'web' : 'db'}`, ['c9']);
    await world.clock.advance(3_000);
    expect(world.asked()).toEqual([first[0]]);
  });
});

describe('a hub without ApplicationSets', () => {
  it('is reported, and is followed once it has them', async () => {
    const world = await new World().create();
    const { hub } = world;
    const list = hub.list.bind(hub);
    hub.list = (kind, options) =>
      kind === APPLICATION_SET
        ? Promise.reject(
            new InputError('the server could not find it', { code: 'kube.notfound', subject: 'x' }),
          )
        : list(kind, options);
    await world.start();
    world.publish('team-a/web', ['c1']);
    world.published.markComplete();
    await world.clock.advance(5_000);
    expect(world.warnings().join()).toMatch(/applicationsets\.argoproj\.io cannot be read/);
    hub.list = list;
    await world.clock.advance(60_000);
    expect(world.asked()).toContain('web');
    expect(world.warnings().join()).not.toMatch(/cannot be read/);
    await world.stop();
  });
});
