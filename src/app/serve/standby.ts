import type { Clock } from '../../core/ports.ts';
import type { Leadership } from '../../runtime/leader-election/leadership.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import type { ControllerState } from './controller-state.ts';
import type { HubInventory } from './hub-inventory.ts';
import type { PublishedBook } from './publish/published-book.ts';
import { UpstreamDecisions } from './publish/upstream-decisions.ts';
import type { CommitBarrier } from './sync/commit-barrier.ts';
import type { OpenSource } from './sync/open-sources.ts';

export interface StandbyOptions {
  readonly leadership: Leadership;
  readonly inventory: HubInventory;
  readonly book: PublishedBook;
  readonly clock: Clock;
  readonly barrier: CommitBarrier;
  readonly state: ControllerState;
}

/**
 * What is different while another process leads, and what has to be right in the moment in which this one begins to write. While it
 * stands by, everything is read and decided as by the leader; what is published is what the leader's pages say once they rest.
 */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #published: UpstreamDecisions;

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#published = new UpstreamDecisions(options);
  }

  start(supervisor: Supervisor, sources: readonly Pick<OpenSource, 'loop'>[]): void {
    const { leadership, barrier, state } = this.#options;
    barrier.standBy();
    leadership.onTakeOver(() => {
      const election = leadership.status();
      if (election !== undefined) state.takeOver(election);
      // Nobody knows how far the one before got.
      barrier.takeOver();
      for (const { loop } of sources) loop.fetch();
    });
    supervisor.start('decisions of the leader', (signal) => this.#follow(signal));
  }

  /** Resolves when it is known what is published; at once when this process leads. */
  async whenSettled(signal: AbortSignal): Promise<void> {
    await this.#options.leadership.whenDecided(signal);
    if (!this.#options.leadership.isHeld) await this.#published.whenSettled(signal);
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
