import {
  type Leadership,
  type LeadershipStatus,
  SOLE_LEADER,
} from '../../../runtime/leader-election/leadership.ts';
import { printable } from '../../../core/model/printable.ts';
import type { FirstReads } from '../../../controllers/sources/progress/first-reads.ts';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';

/** A first read that takes longer counts as one that failed: a forge that hangs must not keep a controller from being ready. */
const PATIENCE_MS = 60_000;

/**
 * Ready: the hub's caches are filled and fresh, everything on it was published once, and every source was read once or could not be.
 * A process that stands by is as ready as the one that leads, so that a rollout goes on; one that can neither lead nor see who does is not.
 * A source that could not be read is an error of its own (`berth status`, metrics), and no reason to keep from serving what is known.
 */
export class Readiness {
  readonly #inventory: Pick<HubInventory, 'problem'>;
  readonly #publishedPlacements: Pick<PublishedPlacements, 'complete'>;
  readonly #sources: FirstReads;
  readonly #leadership: Pick<Leadership, 'status'>;
  #sourcesOver = false;

  constructor(
    inventory: Pick<HubInventory, 'problem'>,
    publishedPlacements: Pick<PublishedPlacements, 'complete'>,
    sources: FirstReads,
    leadership: Pick<Leadership, 'status'> = SOLE_LEADER,
  ) {
    this.#leadership = leadership;
    this.#inventory = inventory;
    this.#publishedPlacements = publishedPlacements;
    this.#sources = sources;
  }

  /** Resolves when readiness no longer waits for the sources. */
  async whenSourcesRead(signal: AbortSignal): Promise<void> {
    await this.#sources.whenOver(PATIENCE_MS, signal);
    this.#sourcesOver = true;
  }

  /** Why not; undefined when ready. */
  problem(): string | undefined {
    const problem = this.#inventory.problem();
    if (problem !== undefined) return problem;
    const election = electionProblem(this.#leadership.status());
    if (election !== undefined) return election;
    if (!this.#publishedPlacements.complete) return 'the first publication is not complete';
    if (this.#sourcesOver) return undefined;
    return `not read yet: source ${this.#sources.waitingFor.join(', ')}`;
  }
}

/** A leader whose lease lapsed is not to be taken out of service for it: what is published stays valid, and no other process may lead yet. */
function electionProblem(status: LeadershipStatus | undefined): string | undefined {
  if (status === undefined) return undefined;
  const { role, lease, holder, problem } = status;
  if (role === 'lost')
    return `Lease ${lease} was lost to ${holder === '' ? 'another process' : printable(holder)}`;
  if (role !== 'deciding') return undefined;
  return problem === undefined
    ? `Lease ${lease} has not been read yet`
    : `Lease ${lease} can be neither read nor taken: ${problem}`;
}
