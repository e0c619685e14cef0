import { APPLICATION_SET_REPORT } from '../argocd-kinds.ts';
import { apiVersionOf } from '@berth/kube/model/kinds';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { findCondition } from '@berth/kube/model/condition-list';
import { HOSTING_SET_KEY, hubApplicationOf } from './pull-target.ts';
import { type PullFeedback, readPullFeedback } from './read-pull-feedback.ts';

/** An object must stay below 1.5 MiB in etcd; the summary counts all clusters. */
const MAX_CLUSTERS = 2_000;
const MAX_LABEL_CHARACTERS = 63;
const RUNNING = new Set(['Running', 'Terminating']);

interface Row {
  readonly work: ManifestWork;
  readonly feedback: PullFeedback;
}

/**
 * The MulticlusterApplicationSetReport of an ApplicationSet, from the works with its Applications. Numbers are text, as
 * the kind requires. Source: multicloud-integrations, `MulticlusterApplicationSetReport` v1alpha1.
 * @param set `namespace/name` of the ApplicationSet
 */
export function renderSetReport(set: string, works: readonly ManifestWork[]): KubeObject {
  const [namespace = '', name = ''] = set.split('/');
  const rows = works
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((work) => ({ work, feedback: readPullFeedback(work) }))
    .sort(byTrouble);
  const count = (test: (feedback: PullFeedback) => boolean): string =>
    String(rows.filter(({ feedback }) => test(feedback)).length);
  return {
    apiVersion: apiVersionOf(APPLICATION_SET_REPORT),
    kind: APPLICATION_SET_REPORT.kind,
    metadata: {
      name,
      namespace,
      labels: { [HOSTING_SET_KEY]: `${namespace}.${name}`.slice(0, MAX_LABEL_CHARACTERS) },
    },
    statuses: {
      clusterConditions: rows.slice(0, MAX_CLUSTERS).map(renderRow),
      summary: {
        synced: count(({ sync }) => sync === 'Synced'),
        notSynced: count(({ sync }) => sync !== 'Synced'),
        healthy: count(({ health }) => health === 'Healthy'),
        notHealthy: count(({ health }) => health !== 'Healthy'),
        inProgress: count(({ health, phase }) => health === 'Progressing' || RUNNING.has(phase ?? '')),
        clusters: String(new Set(rows.map(({ work }) => work.metadata.namespace)).size),
      },
    },
  };
}

function renderRow({ work, feedback }: Row): object {
  const { namespace: cluster = '', name } = work.metadata;
  const { sync, health, phase, startedAt, revision } = feedback;
  const applied = findCondition(work.status?.conditions, 'Applied');
  const conditions = [
    ...(applied?.status === 'False' ? [{ type: 'MemberApplyError', message: applied.message ?? '' }] : []),
    ...feedback.conditions,
  ];
  return {
    cluster,
    app: `${hubApplicationOf(work) ?? ''}/${cluster}/${name}`,
    ...(sync !== undefined && { syncStatus: sync }),
    ...(health !== undefined && { healthStatus: health }),
    ...(phase !== undefined && { operationStatePhase: phase }),
    ...(startedAt !== undefined && { operationStateStartedAt: startedAt }),
    ...(revision !== undefined && { syncRevision: revision }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** Clusters with problems first, then by name. */
function byTrouble(left: Row, right: Row): number {
  const rank = ({ feedback }: Row): number =>
    Number(feedback.health === 'Healthy' && feedback.sync === 'Synced');
  const [a, b] = [namespacedName(left.work.metadata), namespacedName(right.work.metadata)];
  return rank(left) - rank(right) || (a < b ? -1 : Number(a > b));
}
