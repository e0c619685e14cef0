import type { RequestInfo } from '@berth/kube/request-info';
import type { FinishedRequest, HubGauges, RequestMetrics } from './request-metrics.ts';

/** The metrics of `/metrics`. prom-client is imported with the first request, so that it does not delay the start of the hub. */
export class HubMetrics {
  readonly #gauges: HubGauges;
  /** Requests that ended before prom-client was loaded. */
  #pending: (readonly [RequestInfo | undefined, FinishedRequest])[] = [];
  #loading: Promise<RequestMetrics> | undefined;
  #metrics: RequestMetrics | undefined;

  constructor(gauges: HubGauges) {
    this.#gauges = gauges;
  }

  /**
   * Counts a finished request.
   * @param info undefined when the request could not be parsed
   */
  observe(info: RequestInfo | undefined, finished: FinishedRequest): void {
    if (this.#metrics !== undefined) {
      this.#metrics.observe(info, finished);
      return;
    }
    this.#pending.push([info, finished]);
    // If prom-client cannot be loaded, no request is counted, and requests to /metrics fail with the error.
    this.#load().catch(() => (this.#pending = []));
  }

  /**
   * The metrics in the Prometheus text format.
   * @throws Error when prom-client cannot be loaded
   */
  async render(): Promise<{ readonly text: string; readonly contentType: string }> {
    const { registry } = await this.#load();
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  #load(): Promise<RequestMetrics> {
    this.#loading ??= import('./request-metrics.ts').then(({ RequestMetrics }) => {
      const metrics = new RequestMetrics(this.#gauges);
      for (const [info, finished] of this.#pending) metrics.observe(info, finished);
      this.#pending = [];
      this.#metrics = metrics;
      return metrics;
    });
    return this.#loading;
  }
}
