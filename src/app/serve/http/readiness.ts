import type { FirstReads } from '../sync/first-reads.ts';
import type { HubInventory } from '../hub-inventory.ts';
import type { PublishedBook } from '../publish/published-book.ts';

/** A first read that takes longer counts as one that failed: a forge that hangs must not keep a controller from being ready. */
const PATIENCE_MS = 60_000;

/**
 * Ready: the hub's caches are filled and fresh, everything on it was published once, and every source was read once or could not be.
 * One that could not be is an error of its own (`berth status`, metrics), and no reason to keep from serving what is known.
 */
export class Readiness {
  readonly #inventory: Pick<HubInventory, 'problem'>;
  readonly #book: Pick<PublishedBook, 'complete'>;
  readonly #sources: FirstReads;
  #sourcesOver = false;

  constructor(
    inventory: Pick<HubInventory, 'problem'>,
    book: Pick<PublishedBook, 'complete'>,
    sources: FirstReads,
  ) {
    this.#inventory = inventory;
    this.#book = book;
    this.#sources = sources;
  }

  /** Resolves when the sources do not stand in the way any more. */
  async whenSourcesRead(signal: AbortSignal): Promise<void> {
    await this.#sources.whenOver(PATIENCE_MS, signal);
    this.#sourcesOver = true;
  }

  /** Why not; undefined when ready. */
  problem(): string | undefined {
    const problem = this.#inventory.problem();
    if (problem !== undefined) return problem;
    if (!this.#book.complete) return 'the first publication is not complete';
    if (this.#sourcesOver) return undefined;
    return `not read yet: source ${this.#sources.waitingFor.join(', ')}`;
  }
}
