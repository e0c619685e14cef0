import { type Leadership, type LeadershipStatus, SOLE_LEADER } from '@berth/kube/leader-election/leadership';
import { printable } from '@berth/runtime/text/printable';
import type { FirstReads } from '../../../controllers/sources/progress/source-ledger.ts';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';

/**
 * A first read of the sources that takes longer counts as failed, so that a hanging forge does not keep the
 * controller unready.
 */
const MAX_FIRST_READ_MS = 60_000;

/**
 * Ready: the caches of the hub are filled and fresh, everything was published once, and every
 * source was read once or failed. A standby is ready like the leader, so that a rolling update can
 * continue; a process that cannot read the lease is not. A failed source is reported separately
 * (`berth status`, metrics), and does not stop serving known decisions.
 */
export class Readiness {
  readonly #inventory: Pick<HubInventory, 'servingProblem'>;
  readonly #publishedPlacements: Pick<PublishedPlacements, 'complete'>;
  readonly #sources: FirstReads;
  readonly #leadership: Pick<Leadership, 'status'>;
  #sourcesRead = false;
  #isEnding = false;

  constructor(
    inventory: Pick<HubInventory, 'servingProblem'>,
    publishedPlacements: Pick<PublishedPlacements, 'complete'>,
    sources: FirstReads,
    leadership: Pick<Leadership, 'status'> = SOLE_LEADER,
  ) {
    this.#leadership = leadership;
    this.#inventory = inventory;
    this.#publishedPlacements = publishedPlacements;
    this.#sources = sources;
  }

  /** Resolves when readiness no longer depends on the sources. */
  async whenSourcesRead(signal: AbortSignal): Promise<void> {
    await this.#sources.whenOver(MAX_FIRST_READ_MS, signal);
    this.#sourcesRead = true;
  }

  /** From now on the process is not ready, though it answers. */
  announceEnd(): void {
    this.#isEnding = true;
  }

  /** Why the process is not ready; undefined when it is ready. */
  problem(): string | undefined {
    if (this.#isEnding) return 'the process ends';
    const problem = this.#inventory.servingProblem();
    if (problem !== undefined) return problem;
    const election = electionProblem(this.#leadership.status());
    if (election !== undefined) return election;
    if (!this.#publishedPlacements.complete) return 'the first publication is not complete';
    if (this.#sourcesRead) return undefined;
    return `not read yet: source ${this.#sources.waitingFor.join(', ')}`;
  }
}

/**
 * A leader whose lease lapsed stays in service: published decisions stay valid, and no other
 * process may lead yet.
 */
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
