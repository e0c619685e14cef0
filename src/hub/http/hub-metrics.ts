import type { RequestInfo } from './request-info.ts';

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const REQUEST_LABELS = ['verb', 'group', 'resource', 'subresource', 'code'];

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

interface Durations {
  /** Requests by bucket, the last one for those that took longer than every bound. */
  readonly buckets: number[];
  sumSeconds: number;
}

/**
 * What `/metrics` shows: requests by verb and resource, and the size of every cluster's store. Written in the text format of
 * Prometheus by hand: it is counted on every request, and the client library costs a hundred modules at the start of each hub.
 */
export class HubMetrics {
  readonly #clusters: () => readonly ClusterGauges[];
  /** By the values of the labels, joined with line feeds. */
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Durations>();

  constructor(clusters: () => readonly ClusterGauges[]) {
    this.#clusters = clusters;
  }

  observe(info: RequestInfo | undefined, { code, durationMs, allowed }: FinishedRequest): void {
    const verb = info?.verb ?? 'unknown';
    // Only what is served becomes a label: a client must not be able to invent time series.
    const known = info?.kind === 'resource' && allowed && code !== 404;
    const what = known ? `${info.group}\n${info.resource}\n${info.subresource}` : '\n\n';
    const labels = `${verb}\n${what}\n${String(code)}`;
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    // A watch takes as long as it is wanted.
    if (verb !== 'watch') this.#observeDuration(verb, durationMs / 1000);
  }

  #observeDuration(verb: string, seconds: number): void {
    let durations = this.#durations.get(verb);
    if (durations === undefined) {
      durations = { buckets: Array.from({ length: SECONDS.length + 1 }, () => 0), sumSeconds: 0 };
      this.#durations.set(verb, durations);
    }
    const found = SECONDS.findIndex((bound) => seconds <= bound);
    const bucket = found < 0 ? SECONDS.length : found;
    durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1;
    durations.sumSeconds += seconds;
  }

  render(): { readonly text: string; readonly contentType: string } {
    const clusters = this.#clusters();
    const gauge = (name: string, help: string, read: (cluster: ClusterGauges) => number): readonly string[] =>
      metric(
        name,
        ['gauge', help],
        clusters.map((one) => sample(name, [['cluster', one.name || 'hub']], read(one))),
      );
    const lines = [
      ...this.#requestLines(),
      ...this.#durationLines(),
      ...gauge('berth_hub_objects', 'Stored objects', ({ objects }) => objects),
      ...gauge('berth_hub_resource_version', 'Newest resourceVersion', (one) => one.resourceVersion),
      ...gauge('berth_hub_log_bytes', 'Bytes in the current log segment', ({ logBytes }) => logBytes),
      ...metric(
        'process_resident_memory_bytes',
        ['gauge', 'Resident memory'],
        [sample('process_resident_memory_bytes', [], process.memoryUsage.rss())],
      ),
    ];
    return { text: `${lines.join('\n')}\n`, contentType: 'text/plain; version=0.0.4; charset=utf-8' };
  }

  #requestLines(): readonly string[] {
    const name = 'apiserver_request_total';
    const samples = [...this.#requests].map(([labels, count]) => {
      const values = labels.split('\n');
      return sample(
        name,
        REQUEST_LABELS.map((label, index) => [label, values[index] ?? '']),
        count,
      );
    });
    return metric(name, ['counter', 'Requests by verb, resource and status code'], samples);
  }

  #durationLines(): readonly string[] {
    const name = 'apiserver_request_duration_seconds';
    const samples = [...this.#durations].flatMap(([verb, { buckets, sumSeconds }]) => {
      let count = 0;
      const bounds = buckets.map((inBucket, index) => {
        count += inBucket;
        return sample(
          `${name}_bucket`,
          [
            ['verb', verb],
            ['le', String(SECONDS[index] ?? '+Inf')],
          ],
          count,
        );
      });
      const own: Labels = [['verb', verb]];
      return [...bounds, sample(`${name}_sum`, own, sumSeconds), sample(`${name}_count`, own, count)];
    });
    const help = 'Time from the request to its answer, watches not counted';
    return metric(name, ['histogram', help], samples);
  }
}

type Labels = readonly (readonly [string, string])[];

function metric(
  name: string,
  [type, help]: readonly [string, string],
  samples: readonly string[],
): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];
}

/** JSON escapes quotes, backslashes and line feeds as the text format does. */
function sample(name: string, labels: Labels, value: number): string {
  const texts = labels.map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}${texts.length === 0 ? '' : `{${texts.join(',')}}`} ${String(value)}`;
}
