import { decisionPageOf, placementOfPage } from '../../core/publish/pages/decision-page.ts';
import { OTHER_SCHEDULER_QUIET_MS } from '../../core/publish/machine/second-writer.ts';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatNameList } from '@berth/runtime/text/name-list';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { DecisionView, placementsOf } from './decision-view.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';

/**
 * Reads decisions of another process: OCM's controller (`schedule: upstream`), or the leader while
 * this process is a standby. PlacementDecisions count as published when they have not changed for a
 * while.
 */
export class UpstreamDecisions {
  readonly queue: WorkQueue;
  readonly #inventory: HubInventory;
  readonly #publishedPlacements: PublishedPlacements;
  readonly #clock: Clock;
  readonly #view: DecisionView;
  readonly #cancelRead = new Map<string, () => void>();

  constructor(options: {
    readonly inventory: HubInventory;
    readonly publishedPlacements: PublishedPlacements;
    readonly clock: Clock;
  }) {
    this.#inventory = options.inventory;
    this.#publishedPlacements = options.publishedPlacements;
    this.#clock = options.clock;
    this.queue = new WorkQueue(options.clock);
    this.#view = new DecisionView(options.inventory.decisions.store);
  }

  start(supervisor: Supervisor): void {
    supervisor.start('upstream decisions', (signal) => this.follow(signal));
  }

  /** Follows the pages until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    await this.whenPublished(signal);
    if (signal.aborted) return;
    const unsubscribe = this.#inventory.decisions.store.onChange((change) => {
      for (const placement of placementsOf(change)) this.#scheduleRead(placement);
    });
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    unsubscribe();
    for (const cancel of this.#cancelRead.values()) cancel();
    this.#cancelRead.clear();
  }

  /** Whether decisions change. */
  get isBusy(): boolean {
    return this.#cancelRead.size > 0;
  }

  /** Warns that two controllers may decide: placements are annotated as Berth's while OCM is supposed to decide them. */
  warnings(): readonly string[] {
    const annotated = this.#inventory.placements.store
      .list()
      .filter(({ metadata }) => metadata.annotations?.[SCHEDULER_ANNOTATION] === 'berth')
      .map(({ metadata }) => namespacedName(metadata));
    if (annotated.length === 0) return [];
    return [
      `annotated as scheduled by Berth, so that OCM does not schedule them, but this controller runs with schedule: upstream: ${formatNameList(annotated)}`,
    ];
  }

  /** Publishes all pages as they are now, when the inventory is synced. */
  async whenPublished(signal: AbortSignal): Promise<void> {
    await this.#inventory.whenSynced(signal);
    if (signal.aborted) return;
    for (const decision of this.#inventory.decisions.store.list()) this.#publish(placementOfPage(decision));
  }

  #scheduleRead(placement: string): void {
    this.#cancelRead.get(placement)?.();
    this.#cancelRead.set(
      placement,
      this.#clock.schedule(OTHER_SCHEDULER_QUIET_MS, () => {
        this.#cancelRead.delete(placement);
        this.#publish(placement);
      }),
    );
  }

  #publish(placement: string | undefined): void {
    if (placement === undefined) return;
    const pages = this.#view.pagesOf(placement).map((page) => decisionPageOf(page, undefined));
    this.#publishedPlacements.set(
      placement,
      pages.map(({ name, group, decisions }) => ({
        name,
        group: group ?? { name: '', index: 0 },
        decisions,
      })),
    );
  }
}
