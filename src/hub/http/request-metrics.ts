import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestInfo } from './request-info.ts';

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface ClusterGauges {
  readonly name: string;
  readonly objects: number;
  readonly resourceVersion: number;
  readonly logBytes: number;
}

/** What the metrics need to know of a finished request. */
export interface FinishedRequest {
  readonly code: number;
  readonly durationMs: number;
  /** The caller is known and may do it; what others ask for never becomes a label. */
  readonly allowed: boolean;
}

/** The hub's Prometheus registry: requests by verb and resource, and the size of every cluster's store. */
export class RequestMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter;
  readonly #duration: Histogram;

  constructor(clusters: () => readonly ClusterGauges[]) {
    const registers = [this.registry];
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and status code',
      labelNames: ['verb', 'group', 'resource', 'subresource', 'code'],
      registers,
    });
    this.#duration = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the request to its answer, watches not counted',
      labelNames: ['verb'],
      buckets: SECONDS,
      registers,
    });
    const gauge = (name: string, help: string, read: (cluster: ClusterGauges) => number): void => {
      new Gauge({
        name,
        help,
        labelNames: ['cluster'],
        registers,
        collect() {
          for (const cluster of clusters()) this.set({ cluster: cluster.name || 'hub' }, read(cluster));
        },
      });
    };
    gauge('berth_hub_objects', 'Stored objects', (cluster) => cluster.objects);
    gauge('berth_hub_resource_version', 'Newest resourceVersion', (cluster) => cluster.resourceVersion);
    gauge('berth_hub_log_bytes', 'Bytes in the current log segment', (cluster) => cluster.logBytes);
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Resident memory',
      registers,
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
  }

  observe(info: RequestInfo | undefined, { code, durationMs, allowed }: FinishedRequest): void {
    const verb = info?.verb ?? 'unknown';
    // Only what is served becomes a label: a client must not be able to invent time series.
    const known = info?.kind === 'resource' && allowed && code !== 404;
    this.#requests.inc({
      verb,
      group: known ? info.group : '',
      resource: known ? info.resource : '',
      subresource: known ? info.subresource : '',
      code: String(code),
    });
    // A watch takes as long as it is wanted.
    if (verb !== 'watch') this.#duration.observe({ verb }, durationMs / 1000);
  }
}
