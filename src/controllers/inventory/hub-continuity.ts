import { mayBeAllowedLater } from '../../adapters/kube/transport/kube-errors.ts';
import type { ReflectorPosition } from '../../adapters/kube/cache/reflector.ts';
import { MANAGED_CLUSTER_SET, NAMESPACE } from '../../core/model/kinds.ts';
import type { Clock, KubeApi } from '../../core/ports.ts';
import {
  withNewestVersion,
  type HubBreak,
  detectHubBreak,
  type HubPosition,
} from '../../core/sync/hub-position.ts';
import { sleep } from '../../runtime/sleep.ts';

export interface HubContinuityOptions {
  readonly api: Pick<KubeApi, 'list'>;
  readonly clock: Clock;
  /** Whether this process has the right to list namespaces: one of them names the hub. Without it a replaced hub is not recognised. */
  readonly mayListNamespaces: boolean;
  /** Outlives the process. */
  readonly memory: {
    get(key: string): HubPosition | undefined;
    set(key: string, position: HubPosition): void;
  };
  /** What the watches have reached. */
  readonly positions: () => readonly ReflectorPosition[];
  /** Called before any new state of the hub is read. */
  readonly onBreak: (how: HubBreak, now: HubPosition) => void;
  /** Called when the hub answers after it did not. */
  readonly onAnswer: () => void;
}

const SYSTEM_NAMESPACE = 'kube-system';
/** OCM makes it on every hub. Where it is not there, the list still has a version. */
const GLOBAL_SET = 'global';

/** One small list; a restore under open watches is found after at most this time. */
const PRESENCE_CHECK_INTERVAL_MS = 10_000;
/** While the hub does not answer. */
const TRY_EVERY_MS = 2_000;

/**
 * Recognises a hub that was restored from a backup or replaced by another one: the uid of kube-system is another one, or the newest
 * resource version is older than one that was seen. It looks before each watch, and every ten seconds: the watches of a real hub
 * go on after a restore of its etcd, and show nothing. A backup that was written to until it had passed what was seen is found by the
 * watches, which call `doubt`.
 */
export class HubContinuity {
  readonly #options: HubContinuityOptions;
  #history = 0;
  #wasRestored = false;
  #looking: Promise<void> | undefined;

  constructor(options: HubContinuityOptions) {
    this.#options = options;
  }

  /** Whether this process found the hub restored from a backup. */
  get wasRestored(): boolean {
    return this.#wasRestored;
  }

  /**
   * To be awaited before a watch is opened: a watch breaks when its hub is restored.
   * @returns the number of breaks that were found; after a change of it nothing that was read before counts
   * @throws TransientError when the hub does not answer
   */
  async look(): Promise<number> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    await this.#looking;
    return this.#history;
  }

  /** Looks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let isAway = false;
    while (!signal.aborted) {
      await sleep(this.#options.clock, isAway ? TRY_EVERY_MS : PRESENCE_CHECK_INTERVAL_MS, signal);
      if (signal.aborted) return;
      const wasAway = isAway;
      // A hub that does not answer ends the watches, too, and is looked at before they are opened again.
      isAway = await this.look().then(
        () => false,
        () => true,
      );
      if (wasAway && !isAway) this.#options.onAnswer();
    }
  }

  /** A watch found that the hub has another history. Resolves when everybody knows. */
  async doubt(): Promise<void> {
    const known = this.#history;
    await this.look();
    // Several watches may find it at the same time.
    if (this.#history === known) this.#break('restored', this.#noted);
  }

  /** Remembers how far the watches have got, for the next start. */
  note(): void {
    const known = this.#known();
    if (known !== undefined) this.#options.memory.set(this.#name, known);
  }

  async #look(): Promise<void> {
    const { memory } = this.#options;
    // Before the request: the watches may get beyond its answer while it is under way.
    const before = this.#known();
    const now = await this.#position();
    if (now === undefined) return;
    const how = detectHubBreak(before, now);
    memory.set(this.#name, now);
    if (how !== undefined) this.#break(how, now);
  }

  #break(how: HubBreak, now: HubPosition | undefined): void {
    this.#history += 1;
    this.#wasRestored ||= how === 'restored';
    this.#options.onBreak(how, now ?? { uid: '', resourceVersion: '' });
  }

  /** Of the object that is looked at, and of the position in the memory. */
  get #name(): string {
    return this.#options.mayListNamespaces ? SYSTEM_NAMESPACE : GLOBAL_SET;
  }

  get #noted(): HubPosition | undefined {
    return this.#options.memory.get(this.#name);
  }

  #known(): HubPosition | undefined {
    const { positions } = this.#options;
    const noted = this.#noted;
    // A watch that was not opened again since a break still shows the version of the history before it.
    const reached = positions().filter(({ history }) => history === this.#history);
    return (
      noted &&
      withNewestVersion(
        noted,
        reached.map(({ resourceVersion }) => resourceVersion),
      )
    );
  }

  /** Undefined: the hub does not say. */
  async #position(): Promise<HubPosition | undefined> {
    const { api, mayListNamespaces } = this.#options;
    try {
      const fieldSelector = `metadata.name=${this.#name}`;
      const kind = mayListNamespaces ? NAMESPACE : MANAGED_CLUSTER_SET;
      const { items, resourceVersion } = await api.list(kind, { fieldSelector });
      // People may make the set again, so that its uid proves nothing.
      if (!mayListNamespaces) return { uid: '', resourceVersion };
      const uid = items[0]?.metadata.uid;
      return uid === undefined ? undefined : { uid, resourceVersion };
    } catch (error) {
      if (mayBeAllowedLater(error)) return undefined;
      throw error;
    }
  }
}
