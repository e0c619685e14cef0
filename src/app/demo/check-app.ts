import { MANIFEST_WORK, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { CheckResult } from './wait-until.ts';

/** The clusters where an application of the example is expected, and what its Deployment must report there. */
export interface ExpectedApp {
  readonly name: string;
  readonly clusters: readonly string[];
  readonly readyReplicas: number;
}

const NAMESPACE = 'guestbook';
const DONE: CheckResult = { done: true };

/**
 * Checks the state on the hub only: decisions published, works there and nowhere else, applied,
 * available, replicas ready.
 */
export async function checkApp(hub: KubeApi, app: ExpectedApp): Promise<CheckResult> {
  const decided = await decidedClusters(hub, app.name);
  if (!sameNames(decided, app.clusters))
    return missing(
      `PlacementDecisions of ${app.name} say [${decided.join(', ')}], expected [${app.clusters.join(', ')}]`,
    );
  const labelSelector = `${REPLICA_SET_LABEL}=${NAMESPACE}.${app.name}`;
  const works = (await hub.list(MANIFEST_WORK, { labelSelector })).items as unknown as ManifestWork[];
  const clusters = works.map((work) => work.metadata.namespace ?? '');
  if (!sameNames(clusters, app.clusters))
    return missing(
      `ManifestWorks of ${app.name} are on [${clusters.join(', ')}], expected [${app.clusters.join(', ')}]`,
    );
  for (const work of works) {
    const problem = workProblem(work, app.readyReplicas);
    if (problem !== undefined) return missing(`${work.metadata.namespace}/${work.metadata.name}: ${problem}`);
  }
  return DONE;
}

async function decidedClusters(hub: KubeApi, placement: string): Promise<string[]> {
  const labelSelector = `${PLACEMENT_LABEL}=${placement}`;
  const pages = await hub.list(PLACEMENT_DECISION, { namespace: NAMESPACE, labelSelector });
  return (pages.items as unknown as PlacementDecision[]).flatMap(({ status }) =>
    (status?.decisions ?? []).map(({ clusterName }) => clusterName),
  );
}

function workProblem(work: ManifestWork, readyReplicas: number): string | undefined {
  for (const type of ['Applied', 'Available']) {
    const condition = work.status?.conditions?.find((found) => found.type === type);
    if (condition?.status !== 'True') return `${type} is ${condition?.status ?? 'not reported'}`;
  }
  const values = work.status?.resourceStatus?.manifests?.flatMap(
    ({ statusFeedback }) => statusFeedback?.values ?? [],
  );
  const ready = values?.find(({ name }) => name === 'ReadyReplicas')?.fieldValue.integer;
  return ready === readyReplicas
    ? undefined
    : `ReadyReplicas is ${ready ?? 'not reported'}, expected ${readyReplicas}`;
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}

function missing(text: string): CheckResult {
  return { done: false, missing: text };
}
