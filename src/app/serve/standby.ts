import type { Clock } from '@berth/runtime/clock/clock';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import type { ControllerState } from './controller-state.ts';
import type { HubInventory } from '../../controllers/inventory/hub-inventory.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import { UpstreamDecisions } from '../../controllers/publication/upstream-decisions.ts';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';

export interface StandbyOptions {
  readonly leadership: Leadership;
  readonly inventory: HubInventory;
  readonly publishedPlacements: PublishedPlacements;
  readonly clock: Clock;
  readonly barrier: CommitBarrier;
  readonly state: ControllerState;
  /** The newest resource version of each backup from which the hub was restored. */
  readonly restoredTo: () => readonly string[];
}

/**
 * The behaviour of a process that is not the leader, and the steps before it starts to write. A
 * standby reads and decides like the leader. Pages of the leader count as published when they have
 * not changed for two seconds.
 */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #published: UpstreamDecisions;

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#published = new UpstreamDecisions(options);
  }

  start(supervisor: Supervisor): void {
    const { leadership, barrier, state, restoredTo } = this.#options;
    barrier.beginStandby();
    leadership.onTakeOver((takeOver) => {
      state.takeOver(takeOver, { wasRestored: restoredTo().length > 0 });
      // The previous leader may have applied part of a commit.
      barrier.takeOver();
    });
    supervisor.start('decisions of the leader', (signal) => this.#follow(signal));
  }

  /** Resolves when the published decisions are known; immediately if this process leads. */
  async whenPublished(signal: AbortSignal): Promise<void> {
    await this.#options.leadership.whenDecided(signal);
    if (!this.#options.leadership.isHeld) await this.#published.whenPublished(signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { leadership } = this.#options;
    const stop = new AbortController();
    const following = this.#published.follow(stop.signal);
    await leadership.whenHeld(signal);
    stop.abort();
    await following;
  }
}
