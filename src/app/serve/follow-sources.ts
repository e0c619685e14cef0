import { SharedCommits } from '../../controllers/sources/progress/shared-commits.ts';
import type { ServeOptions } from '../settings/serve-options.ts';
import { Subscribers } from '@berth/runtime/loop/subscribers';
import type { CommitsInProgress } from '../../controllers/sources/progress/commits-in-progress.ts';
import type { PlanApprovals } from '../../controllers/publication/plan-approvals.ts';
import { DeclaredPlacements } from '../../controllers/sources/progress/declared-placements.ts';
import { sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import type { SourceEvent } from '../../controllers/sources/progress/source-events.ts';
import type { SourceLedger } from '../../controllers/sources/progress/source-ledger.ts';

/** Subscribes the listeners of source events, in this order. No listener calls a source. */
export function followSources(followers: {
  readonly arriving: CommitsInProgress;
  readonly approvals: PlanApprovals;
  readonly ledger: SourceLedger;
  readonly barrier: CommitBarrier;
  readonly options: Pick<ServeOptions, 'sources'>;
}): Subscribers<SourceEvent> {
  const { arriving, approvals, ledger, barrier, options } = followers;
  const events = new Subscribers<SourceEvent>();
  const writers = options.sources.filter(({ sync }) => sync !== 'observe');
  const shared = new SharedCommits(writers, {
    onExpected: (source) => {
      barrier.expect(source);
      void events.emit({ kind: 'fetch-wanted', source });
    },
    onMissed: (source) => barrier.stopExpecting(source),
  });
  events.subscribe((event) => arriving.handle(event));
  events.subscribe((event) => {
    const { kind, source } = event;
    if (kind === 'read') return approvals.read(source, event.content.commit, event.content.objects);
    // Runs before the barrier opens, so that no decision for the complete commit uses approvals
    // that it withdraws.
    if (kind === 'complete' || kind === 'followed') approvals.followed(source);
    return undefined;
  });
  events.subscribe((event) => ledger.handle(event));
  events.subscribe((event) => barrier.handle(event));
  events.subscribe((event) => shared.handle(event));
  return events;
}

/** The placements that these sources declare. */
export function declaredPlacements(
  sources: ServeOptions['sources'],
  events: Subscribers<SourceEvent>,
): DeclaredPlacements {
  const declared = new DeclaredPlacements(sources.map(sourceNameOf));
  events.subscribe((event) => declared.handle(event));
  return declared;
}
