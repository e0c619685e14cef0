import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatNameList } from '@berth/runtime/text/name-list';
import { setCondition } from '@berth/kube/model/condition-list';
import { type GitOpsClusterStatus, isForAgent } from './gitops-cluster.ts';

/** The result of one pass for a GitOpsCluster. */
export interface RegistrationOutcome {
  /** Undefined if the clusters of its placement are unknown. */
  readonly selected: readonly string[] | undefined;
  /** Names of clusters whose Secret is up to date. */
  readonly registered: readonly string[];
  /** Sentences about failures. */
  readonly problems: readonly string[];
  /** Sentences about Secrets that are kept although their cluster is no longer selected. */
  readonly kept: readonly string[];
}

/**
 * The merge patch of the status, or undefined if nothing changes: `phase` and `message` of v1beta1, conditions of
 * v1alpha1.
 * Conditions of others stay.
 * @param now RFC 3339, seconds
 */
export function statusPatch(
  object: KubeObject,
  outcome: RegistrationOutcome,
  now: string,
): object | undefined {
  const status = (object['status'] ?? {}) as GitOpsClusterStatus;
  if (isForAgent(object)) {
    const before = status.conditions ?? [];
    const next = conditionsOf(outcome).reduce(
      (conditions, condition) => setCondition(conditions, condition, now),
      before,
    );
    return jsonEqual(before, next) ? undefined : { conditions: next };
  }
  const phase = outcome.problems.length === 0 ? 'successful' : 'failed';
  const message = messageOf(outcome);
  if (status.phase === phase && status.message === message) return undefined;
  return { phase, message, lastUpdateTime: now };
}

function conditionsOf({ selected, registered, problems, kept }: RegistrationOutcome): readonly Condition[] {
  const failed = joinSentences(problems);
  const isKnown = selected !== undefined;
  return [
    {
      type: 'PlacementEvaluated',
      status: isKnown ? 'True' : 'False',
      reason: !isKnown ? 'Failed' : selected.length === 0 ? 'NoClusters' : 'Success',
      message: isKnown ? `The placement selects ${selected.length} clusters` : failed,
    },
    {
      type: 'ClustersImported',
      status: problems.length === 0 ? 'True' : 'False',
      reason: problems.length === 0 ? 'Success' : 'Failed',
      message: problems.length === 0 ? `${registered.length} clusters are registered in Argo CD` : failed,
    },
    {
      type: 'RemovedClustersCleanedUp',
      status: kept.length === 0 ? 'True' : 'False',
      reason: kept.length === 0 ? 'Success' : 'InProgress',
      message: kept.length === 0 ? 'No cluster waits for its removal' : joinSentences(kept),
    },
  ];
}

function messageOf({ registered, problems, kept }: RegistrationOutcome): string {
  const names = registered.length === 0 ? 'no cluster' : formatNameList([...registered].sort());
  return joinSentences([`Registered in Argo CD: ${names}`, ...problems, ...kept]);
}

const MAX_SENTENCES = 10;

function joinSentences(sentences: readonly string[]): string {
  const more = sentences.length - MAX_SENTENCES;
  return [...sentences.slice(0, MAX_SENTENCES), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
