import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { readHubSnapshot } from '../../../src/controllers/explanations/offline-snapshot.ts';
import { planRevisions, type PlanRevisionsInput } from '../../../src/controllers/previews/plan-revisions.ts';
import { readRecordedHubState } from '../../../src/controllers/previews/recorded-hub-state.ts';
import {
  CONFIG_MAP,
  type KindInfo,
  MANAGED_CLUSTER,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  memberHead,
  parentOfSource,
} from '../../../src/core/sync/apply-set.ts';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { sha256 } from '@berth/runtime/sha256';
import { baseFiles, cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';

const NOW = '2026-01-01T00:00:00Z';
const settings = (name: string, extra: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'team-a', ...extra },
  data: { name },
});
const many = Array.from({ length: 12 }, (_, at) => settings(`s${at}`));
const gold = placement('gold', {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } }],
});
const FILES = {
  ...baseFiles,
  'web.yaml': yaml(placement('web', { numberOfClusters: 1 })),
  'many.yaml': yaml(...many),
  'gold.yaml': yaml(gold),
};

/** The controller knows the heads of members from its watches. `berth plan` lists them. */
describe('a plan from the heads of members', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let git: GitFixture;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } });
  });
  afterAll(() => hub.close());
  beforeEach(() => {
    git = new GitFixture();
    git.commit(FILES);
  });
  afterEach(() => git.remove());

  async function apply(kind: KindInfo, object: KubeObject, source = 'fleet'): Promise<void> {
    const labels = {
      ...object.metadata.labels,
      [APPLY_SET_PART_OF_LABEL]: applySetId(sha256, parentOfSource(source)),
    };
    const metadata = { ...object.metadata, labels };
    await hub.api.apply(kind, { ...object, metadata }, { fieldManager: 'berth', force: true });
  }

  async function plan(over: Partial<PlanRevisionsInput> = {}) {
    return planRevisions({
      ...{ folder: git.path, base: 'main', head: 'change', fromMergeBase: false, now: NOW },
      sources: [
        {
          name: 'fleet',
          rank: 0,
          paths: [],
          kinds: ['/ConfigMap'],
          allowEmpty: false,
          applies: true,
          budget: undefined,
          deletionWindowMs: undefined,
        },
      ],
      hub: await readHubSnapshot(hub.api, NOW),
      hubMemory: await readRecordedHubState(hub.api, ['fleet']),
      hubApi: hub.api,
      ...{ engine: '1.2.3', ambient: process.env, onProgress: () => undefined },
      ...over,
    });
  }

  it.each<{
    readonly name: string;
    readonly change: Readonly<Record<string, string | undefined>>;
    readonly onHub?: readonly KubeObject[];
  }>([
    {
      name: 'of a change that deletes nothing',
      change: { 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) },
    },
    { name: 'of a change that deletes a placement', change: { 'web.yaml': undefined } },
    { name: 'of deletions that are held', change: { 'many.yaml': yaml(...many.slice(0, 1)) } },
    {
      name: 'of a deletion that an annotation on the hub forbids',
      change: { 'many.yaml': yaml(...many.slice(1)) },
      onHub: [settings('s0', { annotations: { 'berth.dev/prune': 'disabled' } })],
    },
    {
      name: 'with an object on the hub that left Git before',
      change: { 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) },
      onHub: [settings('left')],
    },
    {
      name: 'with a cluster that left Git, stayed on the hub, and returns with other labels',
      change: { 'returns.yaml': yaml(cluster('back', { labels: { region: 'eu' } })) },
      onHub: [cluster('back', { labels: { region: 'us', tier: 'gold' } })],
    },
  ])('is the plan from lists: $name', async ({ change, onHub = [] }) => {
    const kinds: Readonly<Record<string, KindInfo>> = {
      ConfigMap: CONFIG_MAP,
      ManagedCluster: MANAGED_CLUSTER,
    };
    for (const object of many) await apply(CONFIG_MAP, object);
    await apply(PLACEMENT, placement('web', { numberOfClusters: 1 }));
    await apply(CONFIG_MAP, settings('of-another'), 'another');
    for (const object of onHub) await apply(kinds[object.kind] as KindInfo, object);
    git.run('checkout', '-q', '-b', 'change');
    git.commit(change);
    let asked = 0;
    const headsOf = async (kind: KindInfo): Promise<readonly KubeObject[]> => {
      asked += 1;
      const { items } = await hub.api.list(kind, { labelSelector: APPLY_SET_PART_OF_LABEL });
      return items.map(memberHead);
    };
    const fromHeads = await plan({ headsOf });
    expect(asked).toBeGreaterThan(2);
    expect(fromHeads).toEqual(await plan());
    expect(fromHeads.plan.hasChanges).toBe(true);
    for (const { kind, metadata } of onHub)
      await hub.api.delete(kinds[kind] as KindInfo, {
        namespace: metadata.namespace ?? '',
        name: metadata.name,
      });
  });

  it('shows nothing of what the controller applies while it is made', async () => {
    // Main has lost the placement, and the hub not yet.
    await apply(PLACEMENT, gold);
    const page = {
      ...{ apiVersion: gold.apiVersion, kind: 'PlacementDecision' },
      metadata: { name: 'gold-decision-1', namespace: 'team-a', labels: { [PLACEMENT_LABEL]: 'gold' } },
    };
    await hub.api.create(PLACEMENT_DECISION, page);
    await hub.api.mergePatch(
      PLACEMENT_DECISION,
      page.metadata,
      { status: { decisions: [{ clusterName: 'c1', reason: '' }] } },
      { subresource: 'status' },
    );
    git.commit({ 'gold.yaml': undefined });
    git.run('checkout', '-q', '-b', 'change');
    git.commit({ 'README.md': 'Hello' });
    const hubApi = new FollowingHub(hub.api);
    const { plan: made } = await plan({ hubApi });
    expect(hubApi.hasFollowed).toBe(true);
    expect(made).toMatchObject({ placements: [], objects: [], deletionsHeld: [], hasChanges: false });
  });
});

/** The controller deletes the placement `gold` right after members were listed for the first time. */
class FollowingHub extends InterceptedKubeApi {
  hasFollowed = false;

  protected override async read<T>(request: () => Promise<T>, right: string): Promise<T> {
    const answer = await request();
    if (right === 'list placements' && !this.hasFollowed) {
      this.hasFollowed = true;
      await this.inner.delete(PLACEMENT, { namespace: 'team-a', name: 'gold' });
    }
    return answer;
  }

  protected write<T>(request: () => Promise<T>): Promise<T> {
    return request();
  }
}
