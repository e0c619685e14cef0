import { AGENT_RIGHTS } from '../core/rbac/rights-command.ts';
import type { KubeConfig } from '../adapters/kube/config/kube-config.ts';
import { loadKubeConfig } from '../adapters/kube/config/load-kube-config.ts';
import { HttpKubeApi } from '../adapters/kube/http-kube-api.ts';
import { ServerOutage } from '../adapters/kube/transport/server-outage.ts';
import type { Clock, Logger } from '../core/ports.ts';
import { ImpersonatingClients } from './cluster/impersonating-clients.ts';

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
    const outage = new ServerOutage({ server: config.getCurrentCluster()?.server ?? '', clock, log });
    const api = new HttpKubeApi({ config, clock, ...as, exactIntegers: true, outage });
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
