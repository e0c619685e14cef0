import http from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Channel } from '@berth/tunnel/link/channel';
import type { TunnelServer } from '@berth/tunnel/server/tunnel-server';

/** What the cluster's end serves, in the name of the tunnel's addresses. */
export const API_ADDRESS = 'kubernetes:443';
/** Of one cluster. */
const MAX_IDLE = 16;
const IDLE_MS = 30_000;

/**
 * Connections through the tunnel for requests whose `host` is a cluster, and kept for the next request of the same cluster. Only this
 * end ends an idle one: after 30 seconds, or as soon as its agent takes no more connections. So no request meets an end on its way.
 */
export class KeptConnections extends http.Agent {
  readonly #dial: TunnelServer['dial'];
  readonly #clock: Clock;
  /** Each with what cancels its end. */
  readonly #idle = new Map<Channel, () => void>();

  constructor(dial: TunnelServer['dial'], clock: Clock) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE });
    this.#dial = dial;
    this.#clock = clock;
  }

  /** For `http.Agent`, which has no idle one. */
  override createConnection(
    { host }: http.ClientRequestArgs,
    done?: (error: Error | null, channel: Duplex) => void,
  ): undefined {
    void this.#open(host ?? '').then(
      (channel) => done?.(null, channel),
      (error: Error) => done?.(error, undefined as never),
    );
  }

  /** For `http.Agent`, when an answer has ended. */
  override keepSocketAlive(channel: Channel): boolean {
    if (!channel.isEnding)
      this.#idle.set(
        channel,
        this.#clock.schedule(IDLE_MS, () => channel.destroy()),
      );
    return !channel.isEnding;
  }

  /** For `http.Agent`, before the next request. */
  override reuseSocket(channel: Channel, request: http.ClientRequest): void {
    super.reuseSocket(channel, request);
    this.#isUsed(channel);
  }

  async #open(cluster: string): Promise<Channel> {
    const channel = await this.#dial({ cluster, address: API_ADDRESS }, new AbortController().signal);
    channel.once('ending', () => this.#idle.has(channel) && channel.destroy());
    channel.once('close', () => this.#isUsed(channel));
    return channel;
  }

  #isUsed(channel: Channel): void {
    this.#idle.get(channel)?.();
    this.#idle.delete(channel);
  }
}
