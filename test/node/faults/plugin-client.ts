import { setTimeout as pause } from 'node:timers/promises';
import type { ExpectedPlacements } from './expected-placements.ts';

const EVERY_MS = 100;
/** Longer than any outage that a test makes: a request that waits for its answer is not a failed one. */
const PATIENCE_MS = 5000;

export interface PluginOptions {
  /** Of the Service. */
  readonly url: string;
  readonly token: string;
  /** Of the placements, which have the names of the workloads. */
  readonly namespace: string;
  readonly expected: ExpectedPlacements;
}

/** Asks the plugin endpoint ten times a second as Argo CD does, each time with a connection of its own. */
export class PluginClient {
  readonly problems: string[] = [];
  readonly failures = new Map<string, number>();
  /** How many requests were answered since one was not. */
  inARow = 0;
  /** The longest time without an answer since `restart`. */
  longestGapMs = 0;
  #lastAnswerMs = performance.now();
  #restartedAtMs = -Infinity;
  readonly #latest = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #asking: Promise<void>;

  readonly #options: PluginOptions;

  constructor(options: PluginOptions) {
    this.#options = options;
    this.#asking = this.#ask();
  }

  /** The clusters of the last answer about a workload. */
  latest(workload: string): string {
    return this.#latest.get(workload) ?? '';
  }

  /** Begins to measure again. */
  restart(): void {
    this.longestGapMs = 0;
    this.inARow = 0;
    this.#restartedAtMs = this.#lastAnswerMs = performance.now();
    this.failures.clear();
  }

  /** How long nobody has answered until now, or did at the longest. */
  gapMs(): number {
    return Math.max(this.longestGapMs, performance.now() - this.#lastAnswerMs);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const asked = new Set<Promise<void>>();
    for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
      const workloads = this.#options.expected.workloads();
      const workload = workloads[turn % Math.max(workloads.length, 1)];
      if (workload !== undefined) {
        const one = this.#once(workload).finally(() => asked.delete(one));
        asked.add(one);
      }
      // fixed wait: the pace of the requests
      await pause(EVERY_MS);
    }
    await Promise.all(asked);
  }

  async #once(workload: string): Promise<void> {
    const sentAtMs = performance.now();
    const placement = `${this.#options.namespace}/${workload}`;
    const response = await fetch(`${this.#options.url}/api/v1/getparams.execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#options.token}`, connection: 'close' },
      body: JSON.stringify({
        applicationSetName: this.#options.namespace,
        input: { parameters: { placement } },
      }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch((error: Error) => error);
    if (response instanceof Error)
      return this.#failed(sentAtMs, String((response.cause as Error | undefined) ?? response));
    const text = await response.text().catch((error: unknown) => String(error));
    if (response.status !== 200) return this.#failed(sentAtMs, `${String(response.status)} ${text}`);
    const { output } = JSON.parse(text) as Answer;
    const clusters = output.parameters.map(({ clusterName }) => clusterName).sort();
    if (!this.#options.expected.allows(workload, clusters))
      this.problems.push(`${new Date().toISOString()} the plugin puts ${workload} on [${clusters.join()}]`);
    this.#latest.set(workload, clusters.join());
    this.inARow += 1;
    this.longestGapMs = Math.max(this.longestGapMs, performance.now() - this.#lastAnswerMs);
    this.#lastAnswerMs = performance.now();
  }

  #failed(sentAtMs: number, reason: string): void {
    // Of the time before, and given up now.
    if (sentAtMs < this.#restartedAtMs) return;
    this.inARow = 0;
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
}

interface Answer {
  readonly output: { readonly parameters: readonly { readonly clusterName: string }[] };
}
