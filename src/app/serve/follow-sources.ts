import { Subscribers } from '../../runtime/subscribers.ts';
import type { ArrivingCommits } from '../../controllers/sources/progress/arriving-commits.ts';
import type { PlanApprovals } from '../../controllers/publication/plan-approvals.ts';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import type { SourceEvent } from '../../controllers/sources/progress/source-events.ts';
import type { SourceLedger } from '../../controllers/sources/progress/source-ledger.ts';

/** The events of the sources, and those who follow them, in this order. None of these calls a source. */
export function followSources(followers: {
  readonly arriving: ArrivingCommits;
  readonly approvals: PlanApprovals;
  readonly ledger: SourceLedger;
  readonly barrier: CommitBarrier;
}): Subscribers<SourceEvent> {
  const { arriving, approvals, ledger, barrier } = followers;
  const events = new Subscribers<SourceEvent>();
  events.subscribe((event) => arriving.take(event));
  events.subscribe((event) => {
    const { kind, source } = event;
    if (kind === 'read') approvals.read(source, event.fleet.commit?.id, event.fleet.objects);
    else if (kind === 'followed') approvals.followed(source);
  });
  events.subscribe((event) => ledger.take(event));
  events.subscribe((event) => barrier.take(event));
  return events;
}
