import { type BerthError, ConflictError, TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { OncePerPeriod } from '@berth/runtime/loop/rate-limiter';

export interface ServerOutageOptions {
  /** The address of the API server, for messages. */
  readonly server: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Called when an outage begins. */
  readonly onBegin?: (() => void) | undefined;
}

/** How long a server may take after its start until it serves every request. */
const STARTING_MS = 20_000;
const REFUSAL_PERIOD_MS = 60_000;

/**
 * Reports once that an API server does not answer, and once that it answers again; and once a minute that it refuses the
 * credentials, however many requests fail because of it. An outage starts with a request
 * without a response while no other request is answered. It ends with a response that proves that the server can read its
 * storage: opening a watch and a status of 500 or more do not prove that.
 */
export class ServerOutage {
  readonly #options: ServerOutageOptions;
  #answeredAtMs = -Infinity;
  #sinceMs: number | undefined;
  #endedAtMs = -Infinity;
  #refusesCredentials = false;
  readonly #listeners = new Set<() => void>();
  readonly #refusals: OncePerPeriod;

  constructor(options: ServerOutageOptions) {
    this.#options = options;
    this.#refusals = new OncePerPeriod(() => options.clock.now(), REFUSAL_PERIOD_MS);
  }

  get isOn(): boolean {
    return this.#sinceMs !== undefined;
  }

  /**
   * Whether the outage explains failed requests: it lasts, or ended a moment ago. After its start, a server answers some
   * requests with 404, 429 or 503 for a while.
   */
  get explainsFailures(): boolean {
    return this.isOn || this.#options.clock.now() - this.#endedAtMs < STARTING_MS;
  }

  /** Whether what was reported explains this failure of a request. */
  explains(error: BerthError): boolean {
    if (error.code === UNAUTHORIZED) return this.#refusesCredentials;
    const mayBeOfOutage =
      error instanceof TransientError || error instanceof ConflictError || error.code.startsWith('kube.');
    return mayBeOfOutage && this.explainsFailures;
  }

  /** Why nothing can be read or written at present; undefined if the server works. */
  get problem(): string | undefined {
    const { clock, server } = this.#options;
    if (this.#sinceMs !== undefined)
      return `the API server ${server} has not answered for ${Math.round((clock.now() - this.#sinceMs) / 1_000)} s`;
    return this.#refusesCredentials ? `the API server ${server} refuses the credentials` : undefined;
  }

  /** Calls back at the end of each outage. Returns what ends this. */
  readonly onEnd = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A request was answered with 401, and there are no other credentials. */
  refused(): void {
    this.#refusesCredentials = true;
    const { log, server } = this.#options;
    if (this.#refusals.isDue(server))
      log.warn('API server refuses the credentials; requests are retried', { server, hint: REFUSAL_HINT });
  }

  /** A request other than a watch was answered. */
  answered(statusCode: number): void {
    if (statusCode >= 500) return;
    if (statusCode !== 401) this.#refusesCredentials = false;
    const { clock, log, server } = this.#options;
    this.#answeredAtMs = clock.now();
    if (this.#sinceMs === undefined) return;
    log.info('API server answers again', { server, awaySeconds: seconds(clock.now() - this.#sinceMs) });
    this.#sinceMs = undefined;
    this.#endedAtMs = clock.now();
    for (const listener of this.#listeners) listener();
  }

  /** @param sentAtMs when the failed request was sent */
  failed(sentAtMs: number, error: unknown): void {
    if (this.isOn || !isNoAnswer(error) || this.#answeredAtMs > sentAtMs) return;
    this.#sinceMs = sentAtMs;
    const { log, server } = this.#options;
    log.warn('API server does not answer; requests are retried until it does', { server, error });
    this.#options.onBegin?.();
  }
}

const UNAUTHORIZED = 'kube.unauthorized';
const REFUSAL_HINT =
  'the credentials in the kubeconfig have expired, were revoked, or are for another server';
const NO_ANSWER: ReadonlySet<string> = new Set(['kube.network', 'kube.timeout']);

function isNoAnswer(error: unknown): boolean {
  return error instanceof TransientError && NO_ANSWER.has(error.code);
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
