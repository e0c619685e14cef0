import type { ClusterDecision } from '@berth/ocm/kind/placement-decision';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { DesiredGroup } from './decision-page.ts';
import type { FinalPage } from './plan-pages.ts';

export interface PublishedGroup {
  readonly name: string;
  readonly index: number;
  readonly decisions: readonly ClusterDecision[];
}

export interface PublishedPlacement {
  /** `namespace/name` */
  readonly placement: string;
  readonly groups: readonly PublishedGroup[];
}

/**
 * The published decision of each placement, which endpoints serve. It changes only when a
 * publication is complete, so a reader never sees part of a change.
 */
export class PublishedPlacements {
  readonly #placements = new Map<string, PublishedPlacement>();
  readonly #listeners = new Set<(placement: string | undefined) => void>();
  #complete = false;

  /** False until Berth has handled every placement that existed at the start. */
  get complete(): boolean {
    return this.#complete;
  }

  markComplete(): void {
    this.#complete = true;
    this.#notify(undefined);
  }

  /** @param listener called with `namespace/name` after each publication, and with undefined when all are complete */
  onChange(listener: (placement: string | undefined) => void): void {
    this.#listeners.add(listener);
  }

  get(placement: string): PublishedPlacement | undefined {
    return this.#placements.get(placement);
  }

  list(): readonly PublishedPlacement[] {
    return [...this.#placements.values()];
  }

  /**
   * Sets the pages of a placement. Without pages the placement is removed. A cluster on two pages
   * counts once.
   */
  set(placement: string, pages: readonly FinalPage[]): void {
    if (pages.length === 0) {
      this.#placements.delete(placement);
      this.#notify(placement);
      return;
    }
    const seen = new Set<string>();
    const groups = new Map<string, { name: string; index: number; decisions: ClusterDecision[] }>();
    for (const { group, decisions } of pages) {
      const id = `${group.index} ${group.name}`;
      const entry = groups.get(id) ?? { ...group, decisions: [] };
      groups.set(id, entry);
      for (const decision of decisions) {
        if (seen.has(decision.clusterName)) continue;
        seen.add(decision.clusterName);
        entry.decisions.push(decision);
      }
    }
    this.#placements.set(placement, {
      placement,
      groups: [...groups.values()].sort((a, b) => a.index - b.index),
    });
    this.#notify(placement);
  }

  #notify(placement: string | undefined): void {
    for (const listener of this.#listeners) listener(placement);
  }
}

/** A decision that was published: what its record is made of. */
export interface PublishedDecision {
  readonly placement: string;
  readonly result: ScheduleResult;
  readonly groups: readonly DesiredGroup[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The release that approved this change. `by` is the user of `berth release`. */
  readonly released: { readonly token: string; readonly by?: string | undefined } | undefined;
  /** Set for a publication that was found later. */
  readonly found?: FoundPublication | undefined;
}

/** A publication without a record: its process was killed, or its last answer was lost. */
export interface FoundPublication {
  /** Time of the publication in milliseconds since the epoch, if known. */
  readonly atMs: number | undefined;
  /**
   * Whether the removals count toward the budget. They do if the change was announced before it was
   * made and is complete.
   */
  readonly counts: boolean;
}
