import { TransientError } from '../../../core/errors.ts';
import type { Clock, Logger } from '../../../core/ports.ts';

export interface ServerOutageOptions {
  /** Address of the API server, for people. */
  readonly server: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

const STARTING_MS = 20_000;

/**
 * Tells once that an API server does not answer, and once that it does again: each request that fails meanwhile says nothing new. An
 * outage begins with a request that got no answer while no other one got any. It ends with any answer that a server gives which can
 * read its store: a watch is also opened, and 500 and more is also said, by one that cannot.
 */
export class ServerOutage {
  readonly #options: ServerOutageOptions;
  #answeredAtMs = -Infinity;
  #sinceMs: number | undefined;
  #endedAtMs = -Infinity;

  constructor(options: ServerOutageOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Whether failures are due to an outage: after its start a server does not serve everything for a while (404, 429, 503). */
  get isFelt(): boolean {
    return this.isOn || this.#options.clock.now() - this.#endedAtMs < STARTING_MS;
  }

  /** A request other than a watch was answered. */
  answered(statusCode: number): void {
    if (statusCode >= 500) return;
    const { clock, log, server } = this.#options;
    this.#answeredAtMs = clock.now();
    if (this.#sinceMs === undefined) return;
    log.info('API server answers again', { server, awaySeconds: seconds(clock.now() - this.#sinceMs) });
    this.#sinceMs = undefined;
    this.#endedAtMs = clock.now();
  }

  /** @param sentAtMs of the request that failed */
  failed(sentAtMs: number, error: unknown): void {
    if (this.isOn || !isNoAnswer(error) || this.#answeredAtMs > sentAtMs) return;
    this.#sinceMs = sentAtMs;
    const { log, server } = this.#options;
    log.warn('API server does not answer, trying again until it does', { server, error });
  }
}

const NO_ANSWER: ReadonlySet<string> = new Set(['kube.network', 'kube.timeout']);

function isNoAnswer(error: unknown): boolean {
  return error instanceof TransientError && NO_ANSWER.has(error.code);
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
