import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { ReflectorPosition } from '@berth/kube/cache/reflector-options';
import { MANAGED_CLUSTER_SET, NAMESPACE } from '@berth/kube/model/kinds';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  withNewestVersion,
  type HubBreak,
  detectHubBreak,
  type HubPosition,
} from '../../core/sync/hub-position.ts';
import { sleep } from '@berth/runtime/loop/sleep';

export interface HubContinuityOptions {
  readonly api: Pick<KubeApi, 'list'>;
  readonly clock: Clock;
  /**
   * Whether this process may list namespaces. The uid of a namespace identifies the hub; without this right, Berth does
   * not recognise a replaced hub.
   */
  readonly mayListNamespaces: boolean;
  /** Survives a restart of the process. */
  readonly memory: {
    get(key: string): HubPosition | undefined;
    set(key: string, position: HubPosition): void;
  };
  /** The positions of the watches. */
  readonly positions: () => readonly ReflectorPosition[];
  /** Called when a break is found, before any new state of the hub is read. */
  readonly onBreak: (how: HubBreak, now: HubPosition) => void;
  /** Called when the hub responds again after an outage. */
  readonly onAvailable: () => void;
}

const SYSTEM_NAMESPACE = 'kube-system';
/** OCM creates this set on every hub. If it is missing, the list still has a resource version. */
const GLOBAL_SET = 'global';

/** Costs one small list. A restore under open watches is found after at most this time. */
const CHECK_INTERVAL_MS = 10_000;
/** Interval of attempts while the hub does not respond. */
const TRY_EVERY_MS = 2_000;

/**
 * Detects that the hub was restored from a backup or replaced: the uid of kube-system differs, or
 * the newest resource version is older than one that was seen. It checks before each watch and
 * every ten seconds, because the watches of a real hub stay open after a restore of its etcd and
 * report nothing. If writes after the restore have already passed the seen version, the watches
 * detect it and call `reportBreak`.
 */
export class HubContinuity {
  readonly #options: HubContinuityOptions;
  #history = 0;
  #checking: Promise<void> | undefined;

  constructor(options: HubContinuityOptions) {
    this.#options = options;
  }

  /**
   * The newest resource version of each backup from which the hub was restored, oldest first. Stored
   * together with the position: a process that is killed after it found a restore leaves it to the next.
   */
  get restoredTo(): readonly string[] {
    return this.#stored?.restoredTo ?? [];
  }

  /**
   * Await it before a watch is opened.
   * @returns the number of detected breaks; after it changes, everything that was read before is
   * invalid
   * @throws TransientError when the hub does not respond
   */
  async check(): Promise<number> {
    this.#checking ??= this.#checkOnce().finally(() => (this.#checking = undefined));
    await this.#checking;
    return this.#history;
  }

  /** Resolves when the hub has responded to a check, or when the signal aborts. */
  async whenChecked(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.#responds()))
      await sleep(this.#options.clock, TRY_EVERY_MS, signal);
  }

  #responds(): Promise<boolean> {
    return this.check().then(
      () => true,
      () => false,
    );
  }

  /** Checks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let isUnavailable = false;
    while (!signal.aborted) {
      await sleep(this.#options.clock, isUnavailable ? TRY_EVERY_MS : CHECK_INTERVAL_MS, signal);
      if (signal.aborted) return;
      const wasUnavailable = isUnavailable;
      // If the hub does not respond, the watches end, too, and the hub is checked before they are
      // opened again.
      isUnavailable = !(await this.#responds());
      if (wasUnavailable && !isUnavailable) this.#options.onAvailable();
    }
  }

  /**
   * Called by a watch that found another history of the hub. Resolves when all listeners are
   * notified.
   */
  async reportBreak(): Promise<void> {
    const known = this.#history;
    await this.check();
    // Several watches may report the same break.
    if (this.#history === known) this.#break('restored', this.#stored);
  }

  /** Stores how far the watches have got, for the next start. */
  storePosition(): void {
    const known = this.#known();
    if (known !== undefined) this.#options.memory.set(this.#name, known);
  }

  async #checkOnce(): Promise<void> {
    const { memory } = this.#options;
    // Read before the request, because the watches may pass its response meanwhile.
    const before = this.#known();
    const now = await this.#position();
    if (now === undefined) return;
    const how = detectHubBreak(before, now);
    const { restoredTo } = this;
    memory.set(this.#name, restoredTo.length === 0 ? now : { ...now, restoredTo });
    if (how !== undefined) this.#break(how, now);
  }

  #break(how: HubBreak, now: HubPosition = { uid: '', resourceVersion: '' }): void {
    this.#history += 1;
    const restoredTo = [...this.restoredTo, now.resourceVersion];
    if (how === 'restored') this.#options.memory.set(this.#name, { ...now, restoredTo });
    this.#options.onBreak(how, now);
  }

  /** The name of the object to read, and the key of the position in the memory. */
  get #name(): string {
    return this.#options.mayListNamespaces ? SYSTEM_NAMESPACE : GLOBAL_SET;
  }

  get #stored(): HubPosition | undefined {
    return this.#options.memory.get(this.#name);
  }

  #known(): HubPosition | undefined {
    const { positions } = this.#options;
    const stored = this.#stored;
    // A watch that has not been opened again since a break still shows a version from before it.
    const reached = positions().filter(({ history }) => history === this.#history);
    return (
      stored &&
      withNewestVersion(
        stored,
        reached.map(({ resourceVersion }) => resourceVersion),
      )
    );
  }

  /** Undefined if the hub does not report it. */
  async #position(): Promise<HubPosition | undefined> {
    const { api, mayListNamespaces } = this.#options;
    try {
      const fieldSelector = `metadata.name=${this.#name}`;
      const kind = mayListNamespaces ? NAMESPACE : MANAGED_CLUSTER_SET;
      const { items, resourceVersion } = await api.list(kind, { fieldSelector });
      // Users may delete and create the set again, so its uid proves nothing.
      if (!mayListNamespaces) return { uid: '', resourceVersion };
      const uid = items[0]?.metadata.uid;
      return uid === undefined ? undefined : { uid, resourceVersion };
    } catch (error) {
      if (mayBeAllowedLater(error)) return undefined;
      throw error;
    }
  }
}
