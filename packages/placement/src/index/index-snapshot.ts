import { InputError } from '@berth/runtime/errors';
import type { Instant } from '@berth/kube/model/rfc3339';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { CompileCel } from '../filter/cel-hook.ts';
import { Eligibility } from '../filter/eligibility.ts';
import { SchedulingIndex } from './scheduling-index.ts';

export function parseNow(text: string): Instant {
  const now = parseRfc3339(text);
  if (now === undefined)
    throw new InputError(`got ${JSON.stringify(text)}, expected an RFC 3339 time like 2026-03-01T12:00:00Z`, {
      code: 'world.now',
      subject: 'now',
    });
  return now;
}

/** The indexes of the objects of a snapshot. Its placements are compiled later. */
export function indexSnapshot(
  snapshot: Snapshot,
  compileCel: CompileCel,
  now = parseNow(snapshot.now),
): SchedulingIndex {
  const clusterIndex = new ClusterIndex(snapshot.clusters, snapshot.scores);
  const eligibility = new Eligibility(snapshot.clusterSets, snapshot.bindings, clusterIndex);
  return new SchedulingIndex(clusterIndex, eligibility, { now, compileCel });
}
