import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ImpersonatedUser } from '../rules/applied/executor-subject.ts';

/** The number of open clients. There are few executors, and each client has its own connections. */
const MAX_CLIENTS = 20;

/** Clients of the managed cluster that impersonate other users. */
export class ImpersonatingClients {
  readonly #config: KubeConfig;
  readonly #clock: Clock;
  readonly #clients = new Map<string, HttpKubeApi>();
  #closed = false;

  constructor(config: KubeConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  as({ name, groups }: ImpersonatedUser): KubeApi {
    let client = this.#clients.get(name);
    if (client === undefined) {
      if (this.#clients.size >= MAX_CLIENTS) this.#closeOldest();
      client = new HttpKubeApi({
        config: this.#config,
        clock: this.#clock,
        maxRequests: 2,
        impersonate: { user: name, groups },
        exactIntegers: true,
      });
      if (this.#closed) client.close();
    }
    // Moved to the end, so that the least recently used client is closed first.
    this.#clients.delete(name);
    this.#clients.set(name, client);
    return client;
  }

  /** Running requests fail, and so do later ones. */
  close(): void {
    this.#closed = true;
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  #closeOldest(): void {
    const oldest = this.#clients.entries().next().value;
    if (oldest === undefined) return;
    oldest[1].close();
    this.#clients.delete(oldest[0]);
  }
}
