import type { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi, type HttpKubeApiOptions } from '@berth/kube/http-kube-api';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { ServerOutage } from '@berth/kube/transport/server-outage';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import type { ImpersonatedUser } from './rules/applied/executor-subject.ts';

/** The command that prints the rights of an agent, as messages about missing rights name it. */
const AGENT_RIGHTS = 'berth agent --print-rbac';

/** The client of one API server. */
export interface AgentClient {
  readonly api: HttpKubeApi;
  readonly outage: ServerOutage;
  readonly executors: ImpersonatingClients;
}

/** The clients of all API servers that the agents of a process use. */
export class AgentClients {
  readonly #clients = new Map<string, AgentClient>();
  readonly #options: { readonly env: NodeJS.ProcessEnv; readonly clock: Clock; readonly log: Logger };

  constructor(options: { readonly env: NodeJS.ProcessEnv; readonly clock: Clock; readonly log: Logger }) {
    this.#options = options;
  }

  /**
   * One client for each kubeconfig, shared by all agents that name it.
   * @throws InputError when it cannot be used
   */
  of(file: string | undefined): AgentClient {
    let client = this.#clients.get(file ?? '');
    if (client === undefined) {
      client = this.connect(loadKubeConfig({ file, env: this.#options.env }));
      this.#clients.set(file ?? '', client);
    }
    return client;
  }

  /** A separate client, which the caller must close. */
  connect(config: KubeConfig): AgentClient {
    const { clock, log } = this.#options;
    const as = { userAgent: 'work-agent', rightsCommand: AGENT_RIGHTS };
    const server = config.getCurrentCluster()?.server ?? '';
    const outage = new ServerOutage({ server, clock, log, onBegin: () => void api.askUntilAnswered() });
    const api = new AskingKubeApi({ config, clock, ...as, exactIntegers: true, outage });
    return { api, outage, executors: new ImpersonatingClients(config, clock) };
  }

  /** Running requests fail. */
  close(): void {
    for (const { api, executors } of this.#clients.values()) {
      api.close();
      executors.close();
    }
  }
}

/** How often an API server that does not answer is asked. */
const ASK_EVERY_MS = 2_000;

/**
 * A client that asks a server that does not answer whether it is back. An agent has few requests but watches, and each of
 * them may wait half a minute for its next try.
 */
class AskingKubeApi extends HttpKubeApi {
  readonly #options: HttpKubeApiOptions & { readonly outage: ServerOutage };
  readonly #closing = new AbortController();

  constructor(options: HttpKubeApiOptions & { readonly outage: ServerOutage }) {
    super(options);
    this.#options = options;
  }

  async askUntilAnswered(): Promise<void> {
    const { outage, clock, random = Math.random } = this.#options;
    const { signal } = this.#closing;
    while (outage.isOn && !signal.aborted) {
      await sleep(clock, ASK_EVERY_MS * (0.5 + random()), signal);
      // The outage notes the answer, if there is one.
      if (!signal.aborted) await this.probe('/healthz').catch(() => undefined);
    }
  }

  override close(): void {
    this.#closing.abort();
    super.close();
  }
}

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
