import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import { type RunningWaves, startWaves } from '../../../../src/controllers/argocd/waves/start-waves.ts';
import { APPLICATION, APPLICATION_SET } from '../../../../src/core/argocd/argocd-kinds.ts';
import type { WaveEvent } from '../../../../src/core/argocd/waves/wave-state.ts';
import type { WaveRule } from '../../../../src/core/argocd/waves/wave-rule.ts';
import { InputError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { onAbort } from '@berth/runtime/loop/sleep';
import { PublishedPlacements } from '../../../../src/core/publish/pages/published-placements.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { pluginSet } from '../argocd-objects.ts';

const WAVES = 'berth.dev/waves';
const RULE: WaveRule = { count: 3, soakMs: 600_000 };
const PARAMETERS = { waves: '3', soak: '10m' };

/** A hub in memory with an ApplicationSet in waves, and one process after the other. */
class World {
  readonly hub = new FakeKubeApi();
  readonly clock = new FakeClock();
  readonly events: WaveEvent[] = [];
  published = new PublishedPlacements();
  isLeading = true;
  #waves: RunningWaves | undefined;
  #supervisor: Supervisor | undefined;

  async create(parameters: object = PARAMETERS): Promise<this> {
    for (const kind of [APPLICATION_SET, APPLICATION, CONFIG_MAP]) this.hub.addKind(kind);
    await this.hub.create(APPLICATION_SET, pluginSet('web', 'team-a/web', parameters));
    await this.hub.create(APPLICATION_SET, pluginSet('plain', 'team-a/web'));
    return this;
  }

  async start(): Promise<void> {
    const { hub, clock, published } = this;
    const shared = { clock, random: () => 0.5, log: new SilentLogger() };
    const supervisor = new Supervisor(shared);
    const cache = new ObjectCache({ api: hub, ...shared });
    this.#supervisor = supervisor;
    this.#waves = startWaves({
      ...shared,
      ...{ hub, cache, published, pluginConfigMaps: ['berth'], staleAfterMs: 300_000 },
      mayBegin: (signal) =>
        this.isLeading ? Promise.resolve() : new Promise((resolve) => onAbort(signal, resolve)),
      onWaves: (event) => this.events.push(event),
    });
    cache.start(supervisor);
    await clock.advance(1_000);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#waves?.close(), this.#supervisor?.close()]);
  }

  /** The process ends, and another one reads what is published. */
  async restart(...groups: readonly (readonly string[])[]): Promise<void> {
    await this.stop();
    this.published = new PublishedPlacements();
    await this.start();
    await this.publish(...groups);
  }

  async publish(...groups: readonly (readonly string[])[]): Promise<void> {
    this.published.set(
      'team-a/web',
      groups.map((names, index) => ({
        name: `page-${index}`,
        group: { name: '', index },
        decisions: names.map((clusterName) => ({ clusterName, reason: '' })),
      })),
    );
    if (!this.published.complete) this.published.markComplete();
    await this.clock.advance(1_000);
  }

  async generate(cluster: string, health = 'Healthy', owner = 'web'): Promise<void> {
    const key = { namespace: 'argocd', name: `${owner}-${cluster}` };
    const status = { health: { status: health }, sync: { status: 'Synced' } };
    if ((await this.hub.get(APPLICATION, key)) === undefined)
      await this.hub.create(APPLICATION, {
        apiVersion: 'argoproj.io/v1alpha1',
        kind: 'Application',
        metadata: { ...key, ownerReferences: [await this.#ownerReference(owner)] },
        spec: { destination: { name: cluster } },
      });
    await this.hub.mergePatch(APPLICATION, key, { status });
    await this.clock.advance(1_000);
  }

  async #ownerReference(name: string) {
    const { uid = '' } = this.set(name).metadata;
    return { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name, uid, controller: true };
  }

  set(name = 'web'): KubeObject {
    const found = this.hub.peek(APPLICATION_SET).find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`no ApplicationSet ${name}`);
    return found;
  }

  async patchSet(patch: object, name = 'web'): Promise<void> {
    await this.hub.mergePatch(APPLICATION_SET, { namespace: 'argocd', name }, patch);
    await this.clock.advance(1_000);
  }

  written(): unknown {
    const text = this.set().metadata.annotations?.[WAVES];
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  /** The clusters that the endpoint answers with, or the refusal. */
  served(rule = RULE): string {
    const reading = this.waves.readWaves({
      applicationSet: 'web',
      applicationSetNamespace: undefined,
      placement: 'team-a/web',
      rule,
    });
    return reading.ok
      ? [...reading.served]
          .map(([name, wave]) => `${name}=w${wave}`)
          .sort()
          .join(' ')
      : reading.message;
  }

  get waves(): RunningWaves {
    if (this.#waves === undefined) throw new Error('not started');
    return this.#waves;
  }

  /** Writes to ApplicationSets since the last call. */
  writes(): number {
    const count = this.hub.requests.filter((line) => line.startsWith('PATCH applicationsets')).length;
    this.hub.requests.length = 0;
    return count;
  }
}

const GROUPS = [['a'], ['b', 'c'], ['d']] as const;

describe('ApplicationSets in waves', () => {
  let world: World;
  beforeEach(async () => {
    world = await new World().create();
    await world.start();
  });
  afterEach(() => world.stop());

  it('are not answered before everything is published and the waves are written', async () => {
    expect(world.served()).toContain('are not written on ApplicationSet web yet');
    await world.publish(...GROUPS);
    expect(world.served()).toBe('a=w0');
    expect(world.written()).toEqual({
      'team-a/web': [{ served: ['a'] }, { held: ['b', 'c'] }, { held: ['d'] }],
    });
    expect(world.set('plain').metadata.annotations?.[WAVES]).toBeUndefined();
  });

  describe('whose first wave is served', () => {
    beforeEach(async () => {
      await world.publish(...GROUPS);
      world.writes();
      world.events.length = 0;
    });

    it('go on when a wave is healthy and has soaked, and write nothing else', async () => {
      await world.generate('a', 'Progressing');
      expect(world.writes()).toBe(0);
      await world.generate('a');
      expect(world.served()).toBe('a=w0');
      await world.clock.advance(9 * 60_000);
      expect(world.served()).toBe('a=w0');
      expect(world.writes()).toBe(1);
      await world.clock.advance(60_000);
      expect(world.served()).toBe('a=w0 b=w1 c=w1');
      await world.generate('b');
      await world.generate('c');
      await world.clock.advance(11 * 60_000);
      expect(world.served()).toBe('a=w0 b=w1 c=w1 d=w2');
      world.writes();
      await world.generate('a', 'Degraded');
      await world.generate('d');
      await world.clock.advance(60 * 60_000);
      expect([world.writes(), world.waves.held(), world.waves.warnings()]).toEqual([0, [], []]);
      const served = world.events.flatMap((event) => (event.served.length > 0 ? [event.served.join()] : []));
      expect(served).toEqual(['b,c', 'd']);
    });

    it('say which wave waits and why, and warn where somebody has to look', async () => {
      const held = () => world.waves.held().map(({ message }) => message);
      expect(held()).toEqual(['3 clusters wait, from wave w1 on: wave w0 has no Application yet for a']);
      expect(world.waves.warnings()).toEqual([]);
      await world.generate('a', 'Degraded');
      const message =
        '3 clusters wait, from wave w1 on: wave w0 is not healthy: Application web-a is Degraded';
      expect(held()).toEqual([message]);
      expect(world.waves.warnings()).toEqual([
        `argocd: ApplicationSet argocd/web, placement team-a/web: ${message}`,
      ]);
      expect(world.events.map((event) => [event.waiting, event.message])).toEqual([[3, message]]);
      await world.generate('a', 'Progressing');
      expect(world.waves.warnings()).toEqual([]);
      await world.clock.advance(16 * 60_000);
      await world.generate('a', 'Progressing');
      expect(world.waves.warnings()).toHaveLength(1);
    });

    it('go on after a restart where they were, with the soak time that has passed', async () => {
      await world.generate('a');
      await world.clock.advance(6 * 60_000);
      world.writes();
      await world.restart(...GROUPS);
      expect(world.served()).toBe('a=w0');
      expect(world.writes()).toBe(0);
      await world.clock.advance(4 * 60_000);
      expect(world.served()).toBe('a=w0 b=w1 c=w1');
    });

    it('keep the waves when groups are numbered again, and drop a cluster that left', async () => {
      await world.generate('a');
      await world.clock.advance(11 * 60_000);
      await world.publish(['new', 'a'], ['c', 'd'], ['x']);
      expect(world.served()).toBe('a=w0 c=w1 new=w0');
      expect(world.written()).toEqual({
        'team-a/web': [{ served: ['a', 'new'] }, { served: ['c'] }, { held: ['d', 'x'] }],
      });
    });

    it('serve what was served when the decision is empty for a while, as long as Argo CD keeps it', async () => {
      await world.generate('a');
      await world.generate('d');
      await world.publish([]);
      expect(world.served()).toBe('');
      await world.publish(...GROUPS);
      expect(world.served()).toBe('a=w0 d=w2');
    });

    it('change nothing while the placement is not published', async () => {
      world.published.set('team-a/web', []);
      await world.clock.advance(60_000);
      expect(world.served()).toBe('a=w0');
      expect(world.writes()).toBe(0);
    });

    it('get back what somebody takes away or breaks', async () => {
      await world.generate('a');
      await world.clock.advance(11 * 60_000);
      for (const broken of [null, 'x', '[]']) {
        await world.generate('a', 'Degraded');
        await world.patchSet({ metadata: { annotations: { [WAVES]: broken } } });
        expect(world.served()).toBe('a=w0 b=w1 c=w1');
      }
    });

    it('serve at least the clusters with Applications where nothing is left of what was written', async () => {
      await world.generate('a', 'Degraded');
      await world.generate('c');
      await world.stop();
      await world.patchSet({ metadata: { annotations: { [WAVES]: null } } });
      await world.restart(...GROUPS);
      expect(world.served()).toBe('a=w0 c=w1');
    });

    it('are not begun where Applications exist whose clusters are unknown', async () => {
      await world.stop();
      await world.patchSet({ metadata: { annotations: { [WAVES]: null } } });
      await world.generate('a');
      await world.hub.mergePatch(
        APPLICATION,
        { namespace: 'argocd', name: 'web-a' },
        { spec: { destination: { name: null, server: 'https://nobody' } } },
      );
      await world.restart(...GROUPS);
      expect(world.served()).toContain('not written');
      expect(world.waves.warnings().join()).toContain(
        'it is not known for which clusters these Applications are: web-a',
      );
    });

    it('take no Application of another ApplicationSet for their own', async () => {
      await world.generate('a', 'Healthy', 'plain');
      await world.clock.advance(60 * 60_000);
      expect(world.served()).toBe('a=w0');
    });

    it('serve all when the soak time is taken away, and only what is written until then', async () => {
      const parameters = { placement: 'team-a/web', waves: '3' };
      const open = { count: 3, soakMs: undefined };
      expect(world.served(open)).toContain('were changed a moment ago');
      await world.patchSet({ spec: pluginSet('web', 'team-a/web', parameters)['spec'] });
      expect(world.served(open)).toBe('a=w0 b=w1 c=w1 d=w2');
      expect(world.served()).toContain('were changed a moment ago');
    });

    it('leave nothing behind when waves are asked for no more', async () => {
      await world.patchSet({ spec: pluginSet('web', 'team-a/web')['spec'] });
      expect(world.written()).toBeUndefined();
    });

    it('serve no new cluster while Applications cannot be read, and no fewer', async () => {
      await world.generate('a');
      const { hub } = world;
      const refusal = new InputError('forbidden', { code: 'kube.forbidden', subject: 'applications' });
      const [list, watch] = [hub.list.bind(hub), hub.watch.bind(hub)];
      hub.list = (kind, options) =>
        kind.plural === 'applications' ? Promise.reject(refusal) : list(kind, options);
      hub.watch = (kind, options) => {
        if (kind.plural === 'applications') throw refusal;
        return watch(kind, options);
      };
      hub.expire();
      await world.clock.advance(60 * 60_000);
      expect(world.served()).toBe('a=w0');
      expect(world.waves.warnings().join()).toContain('until then no further wave is served');
    });

    it('are answered by a process that does not lead, from what is written', async () => {
      world.isLeading = false;
      await world.restart(...GROUPS);
      world.writes();
      await world.generate('a');
      await world.clock.advance(60 * 60_000);
      expect([world.served(), world.writes()]).toEqual(['a=w0', 0]);
      await world.patchSet({
        metadata: { annotations: { [WAVES]: '{"team-a/web":[{"served":["a"]},{"served":["b"]}]}' } },
      });
      expect(world.served()).toBe('a=w0 b=w1');
    });
  });
});
