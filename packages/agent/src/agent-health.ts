import type { ServerOutage } from '@berth/kube/transport/server-outage';

type Problem = Pick<ServerOutage, 'problem'>;

/** What one agent of a process needs in order to work, as far as it is known. */
export interface AgentPulse {
  /** The managed cluster. */
  readonly cluster: Problem;
  /** The hub whose works were listed; undefined before. */
  hub: Problem | undefined;
}

/** Which agents of a process work: they are registered, have read their works, and reach both API servers. */
export class AgentHealth {
  /** Several agents of one cluster, for several hubs, have one name. */
  readonly #agents: { readonly name: string; readonly pulse: AgentPulse }[] = [];

  /** @param name the cluster, for messages */
  add(name: string, cluster: Problem): AgentPulse {
    const pulse: AgentPulse = { cluster, hub: undefined };
    this.#agents.push({ name, pulse });
    return pulse;
  }

  /** A line for each agent that does not work: `cluster1: is not registered at the hub yet`. */
  get problems(): readonly string[] {
    return this.#agents.flatMap(({ name, pulse }) => {
      const problem = problemOf(pulse);
      return problem === undefined ? [] : [`${name}: ${problem}`];
    });
  }

  /** Whether at least one agent works. One broken cluster says nothing of the process. */
  get isReady(): boolean {
    return this.problems.length < this.#agents.length;
  }
}

function problemOf({ cluster, hub }: AgentPulse): string | undefined {
  if (cluster.problem !== undefined) return cluster.problem;
  return hub === undefined ? 'is not registered at a hub, or has not listed its works yet' : hub.problem;
}
