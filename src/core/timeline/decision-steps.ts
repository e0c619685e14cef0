import { findCluster } from '@berth/placement/explain/snapshot/snapshot-lookup';
import { formatRfc3339, parseRfc3339 } from '@berth/kube/model/rfc3339';
import { namespacedName } from '@berth/kube/model/object-ref';
import { judgeTaint } from '@berth/placement/filter/toleration-class';
import type { CompactRecord, NameSummary } from '../publish/record/compact-record.ts';
import type { DecisionRecord } from '../publish/record/decision-record.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { TimelineStep } from './timeline-step.ts';

/** The timeline step of a publication. */
export function movedStep({
  publishedAt: at,
  placement,
  added,
  removed,
  clusters,
}: Pick<CompactRecord, 'publishedAt' | 'placement' | 'added' | 'removed' | 'clusters'>): TimelineStep {
  const parts = [list('added', added), list('removed', removed)].filter((part) => part !== '');
  const [only] = [...added.names, ...removed.names];
  const cluster = added.count + removed.count === 1 ? only : undefined;
  const detail = parts.length === 0 ? unchanged(clusters) : parts.join(', ');
  return { at, step: 'decision-moved', cluster, placement, detail, added, removed };
}

/** @param clusters number of published clusters */
function unchanged(clusters: number): string {
  if (clusters === 0) return 'no clusters';
  return clusters === 1 ? 'the same cluster' : `the same ${clusters} clusters`;
}

/**
 * Which tolerations ended before the placement lost the clusters.
 * @param snapshot the inputs of the record
 */
export function tolerationSteps(
  { placement: name, removed }: Pick<DecisionRecord, 'placement' | 'removed'>,
  snapshot: Snapshot,
): readonly TimelineStep[] {
  const placement = snapshot.placements.find(({ metadata }) => namespacedName(metadata) === name);
  const now = parseRfc3339(snapshot.now);
  if (placement === undefined || now === undefined) return [];
  const tolerations = placement.spec?.tolerations ?? [];
  return removed.flatMap((cluster) =>
    (findCluster(snapshot, cluster)?.spec?.taints ?? []).flatMap((taint) => {
      const verdict = judgeTaint(taint, tolerations, { now, decided: true });
      if (verdict.verdict !== 'expired') return [];
      const seconds = verdict.toleration.tolerationSeconds ?? 0;
      const detail = `${taint.key}, tolerated for ${seconds} s`;
      return [
        {
          at: formatRfc3339(verdict.until),
          step: 'toleration-ended' as const,
          cluster,
          placement: name,
          detail,
        },
      ];
    }),
  );
}

const MAX_NAMES = 10;

function list(what: string, { count, names }: NameSummary): string {
  if (count === 0) return '';
  const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : '';
  return `${what} ${names.slice(0, MAX_NAMES).join(' ')}${more}`;
}
