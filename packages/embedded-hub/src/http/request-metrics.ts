import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LevelGauges } from '../flow/flow-control.ts';
import type { RequestInfo } from '@berth/kube/request-info';

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Label values for verbs of the API and methods of other paths. HTTP/2 clients can send any method,
 * which must not become a label.
 */
const VERBS: ReadonlySet<string> = new Set(
  'get list watch create update patch delete deletecollection head post put options'.split(' '),
);

export interface ClusterGauges {
  readonly name: string;
  readonly objects: number;
  readonly resourceVersion: number;
  readonly logBytes: number;
}

/** Gauges, read for each request to /metrics. */
export interface HubGauges {
  readonly clusters: () => readonly ClusterGauges[];
  readonly levels: () => readonly LevelGauges[];
  readonly connections: () => {
    readonly count: number;
    readonly unidentified: number;
    readonly refused: number;
  };
}

/** A finished request, as the metrics need it. */
export interface FinishedRequest {
  readonly code: number;
  readonly durationMs: number;
  /** The caller is authenticated and authorized; other requests never become labels. */
  readonly allowed: boolean;
}

/** The hub's Prometheus registry: requests by verb and resource, and the size of every cluster's store. */
export class RequestMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter;
  readonly #duration: Histogram;

  constructor({ clusters, levels, connections }: HubGauges) {
    const registers = [this.registry];
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and status code',
      labelNames: ['verb', 'group', 'resource', 'subresource', 'code'],
      registers,
    });
    this.#duration = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the request to its response, watches not counted',
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
    flowGauges(registers, levels);
    plainGauge(registers, 'berth_hub_connections', 'Open connections', () => connections().count);
    plainGauge(
      registers,
      'berth_hub_unrecognised_connections',
      'Open connections on which no user has been recognised yet',
      () => connections().unidentified,
    );
    new Counter({
      name: 'berth_hub_dropped_connections_total',
      help: 'Connections dropped or refused because there were too many',
      registers,
      collect() {
        this.reset();
        this.inc(connections().refused);
      },
    });
    plainGauge(registers, 'process_resident_memory_bytes', 'Resident memory', () =>
      process.memoryUsage.rss(),
    );
  }

  observe(info: RequestInfo | undefined, { code, durationMs, allowed }: FinishedRequest): void {
    const verb = info !== undefined && VERBS.has(info.verb) ? info.verb : 'unknown';
    // Only served resources become labels, so that a client cannot create time series.
    const known = info?.kind === 'resource' && allowed && code !== 404;
    this.#requests.inc({
      verb,
      group: known ? info.group : '',
      resource: known ? info.resource : '',
      subresource: known ? info.subresource : '',
      code: String(code),
    });
    // The duration of a watch is the client's choice.
    if (verb !== 'watch') this.#duration.observe({ verb }, durationMs / 1000);
  }
}

/** Uses the names of kube-apiserver's API priority and fairness where the meaning is the same. */
function flowGauges(registers: Registry[], levels: () => readonly LevelGauges[]): void {
  const gauge = (name: string, help: string, read: (level: LevelGauges) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['priority_level'],
      registers,
      collect() {
        for (const level of levels()) this.set({ priority_level: level.name }, read(level));
      },
    });
  };
  const prefix = 'apiserver_flowcontrol';
  gauge(`${prefix}_current_executing_seats`, 'Requests that are being processed', (level) => level.executing);
  gauge(`${prefix}_current_inqueue_requests`, 'Requests that wait for a seat', (level) => level.waiting);
  gauge(
    'berth_hub_body_bytes',
    'Memory reserved for request bodies that are being received',
    (level) => level.bodyBytes,
  );
  gauge('berth_hub_watches', 'Open watches', (level) => level.watches);
  new Counter({
    name: `${prefix}_rejected_requests_total`,
    help: 'Requests refused with 429, by reason',
    labelNames: ['priority_level', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const level of levels())
        for (const [reason, count] of level.rejected) this.inc({ priority_level: level.name, reason }, count);
    },
  });
}

function plainGauge(registers: Registry[], name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}
