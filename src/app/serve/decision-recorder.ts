import { digestWorld, sha256, type WorldDigest } from '../../adapters/store/world-digest.ts';
import type { CommitInfo } from '../../adapters/git/git-repository.ts';
import type { Placement } from '../../core/model/placement.ts';
import type { ScheduleResult } from '../../core/placement/schedule-result.ts';
import type { Clock } from '../../core/ports.ts';
import { decidedText, type DecisionRecord, sealRecord } from '../../core/publish/decision-record.ts';
import type { World } from '../../core/snapshot/world.ts';
import type { PublishedDecision } from './placement-publisher.ts';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly engineVersion: string;
  /** The commit that the hub was last synced to, of the source that the placement comes from. */
  readonly commitBehind: (placement: Placement) => CommitInfo | undefined;
  readonly inventoryRevision: () => number;
  readonly append: (record: DecisionRecord, world: WorldDigest) => void;
}

/** Ties each publication to the world that it was computed from. */
export class DecisionRecorder {
  readonly #options: RecorderOptions;
  readonly #worldOf = new WeakMap<ScheduleResult, World>();
  readonly #digestOf = new WeakMap<World, WorldDigest>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Remembers the inputs of a result for as long as the result lives. A result that an engine hands out again follows from
   * the newest world as well; the earlier one can go.
   */
  saw(world: World, result: ScheduleResult): void {
    this.#worldOf.set(result, world);
  }

  /** @returns the hash of the record, '' when the inputs are unknown */
  record(entry: PublishedDecision): string {
    const world = this.#worldOf.get(entry.result);
    if (world === undefined) return '';
    let inputs = this.#digestOf.get(world);
    if (inputs === undefined) this.#digestOf.set(world, (inputs = digestWorld(world)));
    const { clock, engineVersion, commitBehind, inventoryRevision, append } = this.#options;
    const now = commitBehind(entry.result.placement);
    const record = sealRecord(sha256, {
      placement: entry.placement,
      publishedAt: new Date(clock.now()).toISOString(),
      engineVersion,
      commit:
        now === undefined
          ? null
          : { id: now.id, author: `${now.author.name} <${now.author.email}>`, subject: now.subject },
      inventoryRevision: inventoryRevision(),
      inputs: inputs.hash,
      decided: decidedText(entry.result),
      clusters: entry.groups.reduce((sum, group) => sum + group.decisions.length, 0),
      published: isAsDecided(entry) ? null : entry.groups,
      added: entry.added,
      removed: entry.removed,
      released: releaseOf(entry, now),
    });
    append(record, inputs);
    return record.hash;
  }
}

function isAsDecided({ groups, result }: PublishedDecision): boolean {
  const published = new Set(
    groups.flatMap((group) => group.decisions.map((decision) => decision.clusterName)),
  );
  return (
    published.size === result.selected.length && result.selected.every((cluster) => published.has(cluster))
  );
}

/** A release by hand names who; one that came with a commit was made by its author. */
function releaseOf(
  { released }: PublishedDecision,
  commit: CommitInfo | undefined,
): DecisionRecord['released'] {
  if (released === undefined) return null;
  return { token: released.token, by: released.by ?? commit?.author.name ?? 'unknown' };
}
