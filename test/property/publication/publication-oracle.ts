import type { PlacementAction } from '../../../src/core/publish/machine/state/placement-event.ts';
import type { PassPurpose } from '../../../src/core/publish/machine/state/placement-state.ts';
import { sameClusters } from '@berth/placement/result/cluster-change';
import { listedClusters } from '../../../src/core/publish/pages/decision-page.ts';
import type {
  FoundPublication,
  PublishedDecision,
} from '../../../src/core/publish/pages/published-placements.ts';
import { REMOVAL_WINDOW_MS } from '../../../src/core/publish/judge/removal-budget.ts';

/** One write of a controller: what the pages listed before and after it, and what it was for. */
export interface SeenWrite {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly purpose: PassPurpose;
  /** Digest of the spec that the result was decided for. */
  readonly spec: string;
  /** When the change was begun, as the clock says. */
  readonly atMs: number;
  /** Milliseconds since the history began. */
  readonly elapsedMs: number;
  /** It arrived long after it was sent. */
  readonly isLate: boolean;
}

interface Removal {
  readonly cluster: string;
  readonly atMs: number;
  readonly elapsedMs: number;
  /** Where a record tells of it: on the hub and on the disk of the process that made it, or only there. */
  readonly recordedOn: 'hub' | 'disk' | undefined;
}

/**
 * Looks at every write of the controllers and says which promise it breaks. It knows nothing of how the machine judges: it counts what
 * goes from the pages of what was published.
 */
export class PublicationOracle {
  readonly violations: string[] = [];
  /** Clusters of the last complete publication. */
  published: readonly string[] = [];
  /** The same, with what the pages listed since: a process that begins takes that for published. */
  #known: readonly string[] = [];
  /** Clusters that others took from a page since: where they go from another page, too, is an accident of both. */
  #taken = new Set<string>();
  /** Decisions since. */
  #open: (readonly string[])[] = [];
  #removals: readonly Removal[] = [];
  #spec: string | undefined;
  readonly #limit: number;
  /** Nobody else schedules the placement, and it is not made again. */
  readonly #isAlone: boolean;
  readonly #isConsent: (code: string) => boolean;

  constructor(rules: {
    /** So many clusters may go within ten minutes. */
    readonly limit: number;
    readonly isAlone: boolean;
    /** Was this code given as a release? */
    readonly isConsent: (code: string) => boolean;
  }) {
    [this.#limit, this.#isAlone, this.#isConsent] = [rules.limit, rules.isAlone, rules.isConsent];
  }

  decided(clusters: readonly string[]): void {
    this.#open.push(clusters);
  }

  /** A pass is over. */
  sawFinalPages(clusters: readonly string[]): void {
    this.published = [...new Set(clusters)];
    if (this.#isAlone) this.#known = [];
    this.#taken.clear();
    this.saw(this.published);
    this.#open = this.#open.slice(-1);
  }

  told(action: PlacementAction, nowMs: number): void {
    if (action.kind === 'final-pages')
      this.sawFinalPages(action.pages.flatMap(({ decisions }) => decisions.map((d) => d.clusterName)));
    if (action.kind !== 'record') return;
    const { groups, released, found } = action.entry;
    const clusters = groups.flatMap(({ decisions }) => decisions.map((d) => d.clusterName));
    if (found !== undefined) return this.#found(action.entry, found);
    this.sawFinalPages(clusters);
    this.#removals = this.#removals.filter(({ atMs }) => nowMs - atMs < REMOVAL_WINDOW_MS);
    // A release begins again.
    const counting =
      released === undefined ? this.#removals.filter((removal) => counts(removal, clusters)) : [];
    this.#removals = counting.map((removal) => recordedAt(removal, nowMs));
  }

  /** A process found a change completely on the pages: its last answer was lost, or others finished it. */
  #found(
    { removed, released }: PublishedDecision,
    { atMs = Infinity, counts: isWhole }: FoundPublication,
  ): void {
    if (released === undefined && !isWhole) return;
    this.published = this.published.filter((cluster) => !removed.includes(cluster));
    this.#removals = this.#removals.map((removal) =>
      removed.includes(removal.cluster) ? recordedAt(removal, atMs) : removal,
    );
    if (released === undefined) return;
    if (!this.#isConsent(released.token)) this.violations.push(`used ${released.token}, which was not given`);
    this.releaseUsed();
  }

  /** The record with these removals is lost, or is left only on the disk of the process that made it. */
  lostRecord(removed: readonly string[], recordedOn: 'disk' | undefined): void {
    for (const cluster of removed) {
      const at = this.#removals.findLastIndex((removal) => removal.recordedOn && removal.cluster === cluster);
      this.#removals = this.#removals.map((removal, n) => (n === at ? { ...removal, recordedOn } : removal));
    }
  }

  /** The pages list these clusters, no matter who wrote them. */
  saw(listed: readonly string[]): void {
    this.#known = [...new Set([...this.#known, ...listed])];
  }

  /** Others changed what the pages list. */
  disturbed(before: readonly string[], after: readonly string[]): void {
    const count = (names: readonly string[], cluster: string): number =>
      names.filter((name) => name === cluster).length;
    for (const cluster of before)
      if (count(after, cluster) < count(before, cluster)) this.#taken.add(cluster);
    this.saw(after);
  }

  /**
   * A process begins: it knows what was published.
   * @param told what its disk tells of that where others changed the pages; undefined: they did not
   */
  begun(listed: readonly string[], told: readonly string[] | undefined, hasTakenOver: boolean): void {
    this.#open = [];
    this.saw(listed);
    if (told !== undefined)
      this.published = this.published.filter((cluster) => listed.includes(cluster) || told.includes(cluster));
    const isKnown = ({ cluster, recordedOn }: Removal): boolean =>
      !listed.includes(cluster) && (recordedOn === 'hub' || !hasTakenOver);
    this.#removals = this.#removals.filter(isKnown);
  }

  /** A change begins. Users who change the spec begin again, even if the writes for it are refused and they change it back. */
  began(spec: string): void {
    if (spec !== this.#spec) this.#removals = [];
    this.#spec = spec;
  }

  /** A release resets what counts. */
  releaseUsed(): void {
    this.#removals = [];
  }

  /** The placement was made again, or others have scheduled it: nothing earlier counts. */
  forget(): void {
    // What was decided before may still be published.
    [this.published, this.#removals] = [[], []];
  }

  wrote(write: SeenWrite): void {
    const { before, after, purpose, isLate } = write;
    const now = new Set(after);
    const gone = [...new Set(before)].filter((cluster) => !now.has(cluster));
    const lost = gone.filter((cluster) => this.published.includes(cluster) && !this.#taken.has(cluster));
    for (const cluster of lost)
      if (this.#open.every((clusters) => clusters.includes(cluster)))
        this.violations.push(`lost ${cluster}, which is published and wanted`);
    if (purpose.kind === 'publish') {
      this.#count(lost, purpose, write);
      const wanted = listedClusters(purpose.plan.pages);
      // Published, even if nobody hears of it.
      if (sameClusters([...now], wanted)) this.published = wanted;
    } else if (!isLate) {
      this.#stayed(
        lost,
        [...now].filter((name) => !before.includes(name)),
      );
    }
  }

  /** Held means unchanged: what is restored was published. */
  #stayed(lost: readonly string[], come: readonly string[]): void {
    // A change took it before, and a backup brought it back.
    const wasTaken = (cluster: string): boolean =>
      this.#removals.some((removal) => removal.cluster === cluster);
    for (const cluster of lost)
      if (!wasTaken(cluster)) this.violations.push(`took ${cluster} though nothing is published`);
    const strangers = come.filter((cluster) => !this.#known.includes(cluster));
    for (const cluster of strangers) this.violations.push(`added ${cluster} though nothing is published`);
  }

  #count(
    lost: readonly string[],
    purpose: Extract<PassPurpose, { kind: 'publish' }>,
    { after, spec, atMs, elapsedMs }: SeenWrite,
  ): void {
    this.began(spec);
    if (lost.length === 0) return;
    const { releasedCode } = purpose.wanted;
    if (releasedCode !== undefined) {
      if (!this.#isConsent(releasedCode)) this.violations.push(`used ${releasedCode}, which was not given`);
      // The release is used up even if nobody hears that its last write was executed.
      if (!after.some((cluster) => purpose.wanted.removed.includes(cluster))) this.releaseUsed();
      return;
    }
    // A clock that goes back does not bring back what is over.
    const isRecent = (removal: Removal): boolean =>
      atMs - removal.atMs < REMOVAL_WINDOW_MS && elapsedMs - removal.elapsedMs < REMOVAL_WINDOW_MS;
    const removals = lost.map((cluster) => ({ cluster, atMs, elapsedMs, recordedOn: undefined }));
    const earlier = this.#removals.filter((removal) => isRecent(removal) && counts(removal, after));
    this.#removals = [...earlier, ...removals];
    const names = new Set(this.#removals.map(({ cluster }) => cluster));
    if (names.size > this.#limit)
      this.violations.push(`took ${[...names].join()} without consent: ${this.#limit} may go`);
  }
}

/** What went and came again before its change was recorded costs nothing: an interrupted change is restored, or a backup brings it back. */
function counts({ cluster, recordedOn }: Removal, listed: readonly string[]): boolean {
  return recordedOn !== undefined || !listed.includes(cluster);
}

/** A change counts from its end; the clock may have gone back meanwhile. */
function recordedAt(removal: Removal, atMs: number): Removal {
  return removal.recordedOn !== undefined
    ? removal
    : { ...removal, atMs: Math.min(removal.atMs, atMs), recordedOn: 'hub' };
}
