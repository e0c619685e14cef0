import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ControllerEvent } from '../../../controllers/events/controller-events.ts';

interface AnswerLabels {
  readonly applicationSet: string;
  readonly status: number;
  readonly token: string;
}

/** What is measured; text for /metrics comes from `registry`. */
export class ControllerMetrics {
  readonly registry = new Registry();
  readonly #published: Counter;
  readonly #writes: Counter;
  readonly #errors: Counter;
  readonly #works: Counter<'action'>;
  readonly #pulled: Counter<'action'>;
  readonly #answers: Counter<'application_set' | 'status' | 'token'>;
  readonly #schedule: Histogram;
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
    this.#pulled = new Counter({
      name: 'berth_pull_works_written_total',
      help: 'ManifestWorks written that carry Applications of Argo CD',
      labelNames: ['action'],
      registers,
    });
    this.#answers = new Counter({
      name: 'berth_plugin_answers_total',
      help: 'Answers to ApplicationSets',
      labelNames: ['application_set', 'status', 'token'],
      registers,
    });
    this.#schedule = new Histogram({
      name: 'berth_schedule_seconds',
      help: 'Time to decide all placements',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    });
  }

  /** A number that is read when somebody asks. */
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

  /** The same for one number per kind. */
  gaugePerKind(name: string, help: string, collect: () => ReadonlyMap<string, number>): void {
    this.gaugePerLabels(name, help, ['kind'], () =>
      [...collect()].map(([kind, value]) => ({ labels: { kind }, value })),
    );
  }

  /** The same for several labels: a combination that is no longer collected is no longer shown. */
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

  saw(event: ControllerEvent): void {
    if (event.kind === 'published') {
      this.#published.inc();
      this.#writes.inc(event.writes);
    } else if (event.kind === 'work-written') this.#works.inc({ action: event.action });
    else if (event.kind === 'pulled-work-written') this.#pulled.inc({ action: event.action });
    else if (event.kind === 'error') this.#errors.inc();
  }

  scheduled(tookMs: number): void {
    this.#schedule.observe(tookMs / 1000);
  }

  /** @param answer `token` is the name of a token of ours, or '' */
  answered({ applicationSet, status, token }: AnswerLabels): void {
    // Names come from outside: a bounded number of them become labels.
    const known = this.#applicationSets.has(applicationSet) || this.#applicationSets.size < 500;
    if (known) this.#applicationSets.add(applicationSet);
    this.#answers.inc({ application_set: known ? applicationSet : 'other', status: String(status), token });
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : -1;
}
