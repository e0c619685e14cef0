import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../../src/app/cli/program.ts';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import { type RunningController, serveController } from '../../../src/app/serve/serve-controller.ts';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { HubOptions } from '@berth/embedded-hub/hub-options';
import { whenIdle } from '@berth/test-kit/when-idle';
import { CountedKubeApi } from '../../fakes/counted-kube-api.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { makeCliIo } from '../cli-harness.ts';

type EventOf<K extends ControllerEvent['kind']> = ControllerEvent & { readonly kind: K };

/** So many timers, each set by the one before, come due while time passes. */
const STEPS = 4;

/** An embedded hub, a Git repository and a controller between them, in one process; placements live in `team-a`. */
export class ServedFleet {
  readonly hub: Omit<Awaited<ReturnType<typeof startEmbeddedHub>>, 'api'> & { readonly api: CountedKubeApi };
  /** The controller's. */
  readonly clock = new SteeredClock();
  readonly git = new GitFixture();
  #second: GitFixture | undefined;
  readonly dataDir = mkdtempSync(join(tmpdir(), 'berth-serve-'));
  /** Since the last `serve`. */
  events: ControllerEvent[] = [];
  #running: RunningController | undefined;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(hub: Awaited<ReturnType<typeof startEmbeddedHub>>, env: NodeJS.ProcessEnv) {
    this.hub = { ...hub, api: new CountedKubeApi(hub.api) };
    this.#env = env;
  }

  /** @param env of the controller and of the commands */
  static async create(hub: Partial<HubOptions> = {}, env = process.env): Promise<ServedFleet> {
    return new ServedFleet(await startEmbeddedHub({}, hub), env);
  }

  /** Another repository, for tests of two sources. */
  get second(): GitFixture {
    return (this.#second ??= new GitFixture());
  }

  async close(): Promise<void> {
    await this.stop();
    await this.hub.close();
    this.git.remove();
    this.#second?.remove();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.#running?.close();
    this.#running = undefined;
  }

  readonly serve = async (over: Partial<ServeOptions> = {}): Promise<RunningController> => {
    const { sources = [{ url: this.git.path }], ...rest } = over;
    const running = await serveController({
      api: this.hub.api,
      actAs: (token) => this.hub.as(token),
      dataDir: this.dataDir,
      clock: this.clock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: this.#env,
      embedded: true,
      pollIntervalMs: 50,
      ...rest,
      sources: sources.map((source) => ({ kinds: ['*'], ...source })),
    });
    this.#running = running;
    const events: ControllerEvent[] = (this.events = []);
    void (async () => {
      for await (const event of running.events) events.push(event);
    })();
    return running;
  };

  readonly until = async <T>(what: () => T | undefined | Promise<T | undefined>): Promise<T> => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const value = await what();
      if (value !== undefined) return value;
      if (Date.now() > deadline) throw new Error(`not reached; events: ${this.#lastEvents()}`);
      // fixed wait: the pace of a poll
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  /**
   * The controller's clock moves on by `ms` at once, in steps, and all that follows from each is done. For what must not happen: by
   * then it would have happened. Only for a controller whose requests go through `hub.api`.
   */
  readonly advance = async (ms: number): Promise<void> => {
    const { api } = this.hub;
    for (let step = 0; step < STEPS; step++) {
      this.clock.skip(ms / STEPS);
      // What is due fires; what it sets is due in the next step.
      // fixed wait: timers that are due fire within one turn
      await new Promise((resolve) => setTimeout(resolve, 2));
      this.clock.stop();
      await whenIdle(() => (api.underWay > 0 ? 'busy' : `${api.begun} ${this.events.length}`));
      this.clock.go();
    }
  };

  /** The first event of a kind that fits, after the event number `after`. */
  readonly event = <K extends ControllerEvent['kind']>(
    kind: K,
    fits: (event: EventOf<K>) => boolean = () => true,
    after = 0,
  ): Promise<EventOf<K>> =>
    this.until(() =>
      this.events
        .slice(after)
        .find((event): event is EventOf<K> => event.kind === kind && fits(event as EventOf<K>)),
    );

  readonly published = (name: string, after = 0): Promise<EventOf<'published'>> =>
    this.event('published', ({ placement }) => placement === `team-a/${name}`, after);

  readonly decisions = (name: string): Promise<readonly string[]> => decisionsOn(this.hub.api, name);

  readonly read = async (name: string): Promise<Placement> =>
    (await this.hub.api.get(PLACEMENT, { namespace: 'team-a', name })) as unknown as Placement;

  /** Waits until the placement's Held condition has this status, and this reason when one is given. */
  readonly held = (name: string, status: 'True' | 'False', reason?: string): Promise<Condition> =>
    this.until(async () =>
      (await this.read(name)).status?.conditions?.find(
        (condition) =>
          condition.type === 'berth.dev/Held' &&
          condition.status === status &&
          (reason === undefined || condition.reason === reason),
      ),
    );

  /** What `serve` needs for `status` to answer. */
  readonly http = (): NonNullable<ServeOptions['http']> => {
    const tokenFile = join(this.dataDir, 'tokens');
    writeFileSync(tokenFile, 'a-token-of-this-test');
    return { host: '127.0.0.1', port: 0, tokenFile };
  };

  /** `berth status` of a controller that serves `http`; its text and exit code. */
  readonly status = () =>
    this.berth('status', '--server', this.#running?.url ?? '', '--token-file', join(this.dataDir, 'tokens'));

  /** Runs a command as a person would, in the repository. */
  readonly berth = async (...args: string[]) => {
    const { io, stdout, stderr } = makeCliIo({ cwd: this.git.path, env: this.#env });
    const code = await runCli(args, io);
    return { code, stdout: stdout(), stderr: stderr() };
  };

  #lastEvents(): string {
    const brief = (key: string, value: unknown): unknown =>
      key === 'result' || key === 'snapshot' ? undefined : value;
    return JSON.stringify(this.events.slice(-12), brief, 1);
  }
}

/** The clusters that the pages of the placement in `team-a` list now. */
export async function decisionsOn(api: KubeApi, name: string): Promise<readonly string[]> {
  const { items } = await api.list(PLACEMENT_DECISION, {
    namespace: 'team-a',
    labelSelector: `cluster.open-cluster-management.io/placement=${name}`,
  });
  return items.flatMap((item) => {
    const { decisions = [] } = (item['status'] ?? {}) as { decisions?: { clusterName: string }[] };
    return decisions.map(({ clusterName }) => clusterName);
  });
}
