import type { RequestInfo } from '../wire/request-info.ts';
import type { FinishedRequest, HubGauges, RequestMetrics } from './request-metrics.ts';

/** What `/metrics` shows. The Prometheus client is loaded beside the first request: a hub that starts does not wait for it. */
export class HubMetrics {
  readonly #gauges: HubGauges;
  /** Requests that ended before the client was there. */
  #early: (readonly [RequestInfo | undefined, FinishedRequest])[] = [];
  #loading: Promise<RequestMetrics> | undefined;
  #metrics: RequestMetrics | undefined;

  constructor(gauges: HubGauges) {
    this.#gauges = gauges;
  }

  observe(info: RequestInfo | undefined, finished: FinishedRequest): void {
    if (this.#metrics !== undefined) {
      this.#metrics.observe(info, finished);
      return;
    }
    this.#early.push([info, finished]);
    // If prom-client cannot be loaded, requests for /metrics report it; nothing is counted for it.
    this.#load().catch(() => (this.#early = []));
  }

  async render(): Promise<{ readonly text: string; readonly contentType: string }> {
    const { registry } = await this.#load();
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  #load(): Promise<RequestMetrics> {
    this.#loading ??= import('./request-metrics.ts').then(({ RequestMetrics }) => {
      const metrics = new RequestMetrics(this.#gauges);
      for (const [info, finished] of this.#early) metrics.observe(info, finished);
      this.#early = [];
      this.#metrics = metrics;
      return metrics;
    });
    return this.#loading;
  }
}
