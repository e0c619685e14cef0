import { APPLICATION, APPLICATION_SET, asApplication } from '../../core/argocd/argocd-kinds.ts';
import { hostingSet } from '../../core/argocd/pull/pull-target.ts';
import { type ApplicationsRead, explainWaves, waveRuleOf } from '../../core/argocd/waves/explain-waves.ts';
import { type WavesExplanation } from '@berth/placement/explain/verdict/explanation';
import { errorText, InputError } from '@berth/runtime/errors';
import { decisionsOfPlacement } from '@berth/placement/explain/snapshot/snapshot-lookup';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Problem } from '@berth/runtime/problem/problem';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { decisionPageOf, hasGroup } from '../../core/publish/pages/decision-page.ts';
import { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

export interface HubWaves {
  readonly waves: readonly WavesExplanation[];
  readonly problems: readonly Problem[];
}

/** Reads the waves in which the ApplicationSets of a hub use a placement; none without Argo CD. */
export async function readHubWaves(hub: KubeApi, snapshot: Snapshot, ref: PlacementRef): Promise<HubWaves> {
  const placement = `${ref.namespace}/${ref.name}`;
  const read = await readAll(() => hub.list(APPLICATION_SET));
  const sets = read.objects.filter((object) => waveRuleOf(object, placement) !== undefined);
  const asked = {
    placement,
    groups: publishedGroups(snapshot, ref),
    clusters: snapshot.clusters,
    nowMs: Date.parse(snapshot.now),
  };
  const waves: WavesExplanation[] = [];
  for (const set of sets) {
    const found = explainWaves(set, asked, await applicationsOf(hub, set));
    if (found !== undefined) waves.push(found);
  }
  return { waves, problems: read.problem === undefined ? [] : [problemOf(read.problem)] };
}

function problemOf(message: string): Problem {
  return {
    severity: 'error',
    code: 'explain.waves',
    message: `ApplicationSets cannot be read: ${message}`,
    hint: 'it is unknown whether ApplicationSets take the placement in waves',
  };
}

async function applicationsOf(hub: KubeApi, { metadata }: KubeObject): Promise<ApplicationsRead> {
  const { namespace = '', uid } = metadata;
  const { objects, problem } = await readAll(() => hub.list(APPLICATION, { namespace }));
  const own = objects.filter(
    ({ metadata: { ownerReferences = [], ...rest } }) =>
      hostingSet({ ownerReferences, ...rest }) === namespacedName(metadata) &&
      ownerReferences.some((owner) => owner.uid === uid),
  );
  return {
    applications: own.map(asApplication),
    problem: problem === undefined ? undefined : `Applications cannot be read: ${problem}`,
  };
}

interface Read {
  readonly objects: readonly KubeObject[];
  readonly problem: string | undefined;
}

/** A kind that the hub does not serve has no objects. */
async function readAll(list: () => Promise<{ readonly items: readonly KubeObject[] }>): Promise<Read> {
  try {
    return { objects: (await list()).items, problem: undefined };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { objects: [], problem: error.code === 'kube.notfound' ? undefined : errorText(error) };
  }
}

function publishedGroups(snapshot: Snapshot, ref: PlacementRef) {
  const key = `${ref.namespace}/${ref.name}`;
  const pages = decisionsOfPlacement(snapshot, ref).map((page) =>
    decisionPageOf(page as unknown as KubeObject, undefined),
  );
  const published = new PublishedPlacements();
  published.set(key, pages.filter(hasGroup));
  return published.get(key)?.groups;
}
