import { AGENT_RIGHTS } from './agent-rights.ts';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { ServerOutage } from '@berth/kube/transport/server-outage';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
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
