import { TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { TunnelLink } from '../link/tunnel-link.ts';

/** One agent of a cluster. */
export interface ConnectedAgent {
  readonly link: TunnelLink;
  readonly sinceMs: number;
  /** Of the last ping; undefined before the first one is answered. */
  roundTripMs: number | undefined;
}

/** The tunnel of one cluster, for people. */
export interface TunnelState {
  readonly agents: number;
  readonly connections: number;
  /** With agents: when the oldest of them came. Without: when the last one went, or undefined if none was ever there. */
  readonly sinceMs: number | undefined;
  readonly roundTripMs: number | undefined;
}

/** The agents that are connected, by the cluster that their certificates name. */
export class AgentRegistry {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #agents = new Map<string, ConnectedAgent[]>();
  readonly #goneAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.now();
  }

  add(cluster: string, agent: ConnectedAgent): void {
    this.#agents.set(cluster, [...(this.#agents.get(cluster) ?? []), agent]);
  }

  remove(cluster: string, agent: ConnectedAgent): void {
    const rest = (this.#agents.get(cluster) ?? []).filter((other) => other !== agent);
    if (rest.length > 0) this.#agents.set(cluster, rest);
    else if (this.#agents.delete(cluster)) this.#goneAtMs.set(cluster, this.#clock.now());
  }

  /**
   * The newest agent of the cluster that takes connections: after a renewal it is the one that stays.
   * @throws TransientError if there is none, with the time since when
   */
  agentOf(cluster: string): ConnectedAgent {
    const agent = this.#agents.get(cluster)?.findLast(({ link }) => !link.isEnding);
    if (agent !== undefined) return agent;
    const goneAtMs = this.#goneAtMs.get(cluster);
    throw new TransientError(
      this.#agents.has(cluster)
        ? 'its agent is about to end and takes no more connections'
        : goneAtMs === undefined
          ? `no agent has connected since this server started at ${time(this.#startedAtMs)}`
          : `its agent is not connected since ${time(goneAtMs)}`,
      { code: 'tunnel.no-agent', subject: `tunnel of cluster ${cluster}` },
    );
  }

  stateOf(cluster: string): TunnelState {
    const agents = this.#agents.get(cluster) ?? [];
    return {
      agents: agents.length,
      connections: agents.reduce((sum, { link }) => sum + link.connections, 0),
      sinceMs: agents[0]?.sinceMs ?? this.#goneAtMs.get(cluster),
      roundTripMs: agents.at(-1)?.roundTripMs,
    };
  }

  clusters(): readonly string[] {
    return [...new Set([...this.#agents.keys(), ...this.#goneAtMs.keys()])].sort();
  }

  all(): readonly ConnectedAgent[] {
    return [...this.#agents.values()].flat();
  }
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
