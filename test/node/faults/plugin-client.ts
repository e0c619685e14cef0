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
  /** What a controller answered instead of clusters since `restart`: status and text. */
  refusals: string[] = [];
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
    this.refusals = [];
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
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    // One of the time before, which is given up now, says nothing.
    const isOfNow = sentAtMs >= this.#restartedAtMs;
    if (response?.status !== 200 || text === undefined) {
      if (isOfNow) this.inARow = 0;
      if (isOfNow && text !== undefined) this.refusals.push(`${String(response?.status)} ${text}`);
      return;
    }
    const { output } = JSON.parse(text) as Answer;
    const clusters = output.parameters.map(({ clusterName }) => clusterName).sort();
    if (!this.#options.expected.allows(workload, clusters))
      this.problems.push(`${new Date().toISOString()} the plugin puts ${workload} on [${clusters.join()}]`);
    this.#latest.set(workload, clusters.join());
    this.inARow += 1;
    this.longestGapMs = Math.max(this.longestGapMs, performance.now() - this.#lastAnswerMs);
    this.#lastAnswerMs = performance.now();
  }
}

interface Answer {
  readonly output: { readonly parameters: readonly { readonly clusterName: string }[] };
}
