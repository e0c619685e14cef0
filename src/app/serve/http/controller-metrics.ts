import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ServedRequest } from '../../../../plugin/getparams-endpoint.ts';
import type { ControllerEvent } from '../../../controllers/events/controller-events.ts';
import { COMMIT_STAGES, type CommitStage } from '../../../controllers/sources/progress/commit-stages.ts';

/** The names of ApplicationSets come from outside, so only a limited number of them become labels. */
const MAX_APPLICATION_SETS = 500;

/** The metrics of the controller; `registry` renders /metrics. */
export class ControllerMetrics {
  readonly registry = new Registry();
  readonly #published: Counter;
  readonly #writes: Counter;
  readonly #errors: Counter;
  readonly #works: Counter<'action'>;
  readonly #refreshes: Counter<'outcome'>;
  readonly #refreshTime: Histogram;
  readonly #clusterSecrets: Counter<'action'>;
  readonly #pulled: Counter<'action'>;
  readonly #registrations = new Counter({
    name: 'berth_registrations_total',
    help: 'Actions of the registration controllers on clusters',
    labelNames: ['action'],
    registers: [this.registry],
  });
  readonly #addOns = new Counter({
    name: 'berth_addons_total',
    help: 'Actions of the manager of add-ons',
    labelNames: ['action'],
    registers: [this.registry],
  });
  readonly #reviews = new Counter({
    name: 'berth_admission_reviews_total',
    help: 'Writes that the hub asked the admission webhooks about: allowed, refused, unknown',
    labelNames: ['verdict'],
    registers: [this.registry],
  });
  readonly #spans = new Counter({
    name: 'berth_trace_spans_total',
    help: 'Spans of traces: sent, refused by the collector, lost after some tries, or dropped because the queue was full',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly #pluginResponses: Counter<'application_set' | 'status' | 'token'>;
  readonly #pluginSeconds: Histogram;
  readonly #pluginClusters: Gauge<'application_set'>;
  readonly #schedule: Histogram;
  readonly #commitStages = new Histogram({
    name: 'berth_commit_stage_seconds',
    help: 'Time from the begin of the fetch of a commit until it was followed, decided, published, applied',
    labelNames: ['stage'],
    buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800],
    registers: [this.registry],
  });
  readonly #applicationSets = new Set<string>();

  constructor() {
    const registers = [this.registry];
    this.#published = new Counter({
      name: 'berth_publications_total',
      help: 'Changed decisions written to the hub',
      registers,
    });
    this.#writes = new Counter({
      name: 'berth_page_writes_total',
      help: 'Writes of PlacementDecisions',
      registers,
    });
    this.#errors = new Counter({ name: 'berth_errors_total', help: 'Errors reported as events', registers });
    this.#works = new Counter({
      name: 'berth_works_written_total',
      help: 'ManifestWorks written',
      labelNames: ['action'],
      registers,
    });
    this.#refreshes = new Counter({
      name: 'berth_argocd_refreshes_total',
      help: 'Refreshes of ApplicationSets: requested, requested again, confirmed',
      labelNames: ['outcome'],
      registers,
    });
    this.#refreshTime = new Histogram({
      name: 'berth_argocd_refresh_seconds',
      help: 'Time from the request of a refresh until Argo CD generated the Applications',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 180],
      registers,
    });
    this.#clusterSecrets = new Counter({
      name: 'berth_argocd_cluster_secrets_written_total',
      help: 'Cluster secrets of Argo CD written',
      labelNames: ['action'],
      registers,
    });
    this.#pulled = new Counter({
      name: 'berth_pull_works_written_total',
      help: 'ManifestWorks written that carry Applications of Argo CD',
      labelNames: ['action'],
      registers,
    });
    this.#pluginResponses = new Counter({
      name: 'berth_plugin_answers_total',
      help: 'Responses to ApplicationSets',
      labelNames: ['application_set', 'status', 'token'],
      registers,
    });
    this.#pluginSeconds = new Histogram({
      name: 'berth_plugin_answer_seconds',
      help: 'Time to answer an ApplicationSet',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1],
      registers,
    });
    this.#pluginClusters = new Gauge({
      name: 'berth_plugin_clusters',
      help: 'Clusters in the last response to an ApplicationSet, not counting refusals',
      labelNames: ['application_set'],
      registers,
    });
    this.#schedule = new Histogram({
      name: 'berth_schedule_seconds',
      help: 'Time to decide all placements',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    });
    // A rate needs the sample from before the first commit.
    for (const stage of COMMIT_STAGES) this.#commitStages.zero({ stage });
  }

  /** A gauge that is read at each scrape. */
  gauge(name: string, help: string, collect: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(finite(collect()));
      },
    });
  }

  /** The same with a label for the kind. */
  gaugePerKind(name: string, help: string, collect: () => ReadonlyMap<string, number>): void {
    this.gaugePerLabels(name, help, ['kind'], () =>
      [...collect()].map(([kind, value]) => ({ labels: { kind }, value })),
    );
  }

  /** Adds a number with several labels. A combination that is no longer collected is no longer shown. */
  gaugePerLabels<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: () => readonly { readonly labels: Readonly<Record<L, string>>; readonly value: number }[],
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of collect()) this.set(labels, finite(value));
      },
    });
  }

  record(event: ControllerEvent): void {
    if (event.kind === 'published') {
      this.#published.inc();
      this.#writes.inc(event.writes);
    } else if (event.kind === 'work-written') this.#works.inc({ action: event.action });
    else if (event.kind === 'pulled-work-written') this.#pulled.inc({ action: event.action });
    else if (event.kind === 'registration') this.#registrations.inc({ action: event.action });
    else if (event.kind === 'add-on') this.#addOns.inc({ action: event.action });
    else if (event.kind === 'error') this.#errors.inc();
    else if (event.kind === 'cluster-secret-written') this.#clusterSecrets.inc({ action: event.action });
    else if (event.kind === 'application-set-refreshed') {
      this.#refreshes.inc({ outcome: event.outcome });
      if (event.tookMs !== undefined) this.#refreshTime.observe(event.tookMs / 1000);
    }
  }

  scheduled(tookMs: number): void {
    this.#schedule.observe(tookMs / 1000);
  }

  /** A commit has reached the stage, after this time. */
  commitReached(stage: CommitStage, tookMs: number): void {
    this.#commitStages.observe({ stage }, Math.max(0, tookMs) / 1000);
  }

  spans(outcome: string, count: number): void {
    if (count > 0) this.#spans.inc({ outcome }, count);
  }

  /** Counts a response of an admission webhook. */
  reviewed(verdict: string): void {
    this.#reviews.inc({ verdict });
  }

  pluginResponded({ applicationSet, status, token, items, tookMs }: ServedRequest): void {
    const known =
      this.#applicationSets.has(applicationSet) || this.#applicationSets.size < MAX_APPLICATION_SETS;
    if (known) this.#applicationSets.add(applicationSet);
    const label = known ? applicationSet : 'other';
    this.#pluginResponses.inc({ application_set: label, status: String(status), token });
    this.#pluginSeconds.observe(tookMs / 1000);
    if (status === 200) this.#pluginClusters.set({ application_set: label }, items);
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : -1;
}
