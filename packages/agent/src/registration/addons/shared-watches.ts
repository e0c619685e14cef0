import type { ObjectChange } from '@berth/kube/cache/object-store';
import { Reflector } from '@berth/kube/cache/reflector';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { RegistrationSettings } from '../options/registration-settings.ts';

export interface WatchTarget {
  readonly api: KubeApi;
  /** Names the API server of this target among those of one agent. */
  readonly server: 'hub' | 'managed' | 'hosting';
  readonly kind: KindInfo;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined;
}

interface OpenWatch {
  readonly reflector: Reflector;
  readonly users: Set<string>;
  readonly stop: AbortController;
}

/** Watches that several users share. One is open while somebody needs it. */
export class SharedWatches {
  readonly #settings: Pick<RegistrationSettings, 'clock' | 'random' | 'log'>;
  readonly #onChange: (target: WatchTarget, change: ObjectChange) => void;
  readonly #onListed: (users: ReadonlySet<string>) => void;
  readonly #open = new Map<string, OpenWatch>();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: {
    readonly settings: Pick<RegistrationSettings, 'clock' | 'random' | 'log'>;
    readonly onChange: (target: WatchTarget, change: ObjectChange) => void;
    /** Called with the users of a target after each complete list. */
    readonly onListed: (users: ReadonlySet<string>) => void;
  }) {
    this.#settings = options.settings;
    this.#onChange = options.onChange;
    this.#onListed = options.onListed;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Declares all that a user needs from now on: `none` ends what nobody else needs. */
  use(user: string, targets: readonly WatchTarget[]): readonly Reflector[] {
    const reflectors = targets.map((target) => this.#add(user, target));
    const kept = new Set(reflectors);
    for (const [key, { reflector, users, stop }] of this.#open) {
      if (kept.has(reflector) || !users.delete(user) || users.size > 0) continue;
      this.#open.delete(key);
      stop.abort();
    }
    return reflectors;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { stop } of this.#open.values()) stop.abort();
    this.#open.clear();
    await Promise.all(this.#running);
  }

  #add(user: string, target: WatchTarget): Reflector {
    const { server, kind, namespace = '', labelSelector = '' } = target;
    const key = JSON.stringify([server, kind.plural, namespace, labelSelector]);
    const known = this.#open.get(key);
    if (known !== undefined) {
      known.users.add(user);
      return known.reflector;
    }
    const { api, transform } = target;
    const reflector = new Reflector({
      ...this.#settings,
      ...{ api, kind, namespace: target.namespace, labelSelector: target.labelSelector },
      ...(transform !== undefined && { transform }),
    });
    const users = new Set([user]);
    const stop = new AbortController();
    if (this.#isClosed) stop.abort();
    this.#open.set(key, { reflector, users, stop });
    reflector.store.onChange((change) => this.#onChange(target, change));
    reflector.store.onListed(() => this.#onListed(users));
    const running = reflector.run(stop.signal);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    return reflector;
  }
}
