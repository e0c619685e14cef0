import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLUSTER_MANAGEMENT_ADDON, MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { LONG_RUN_MS, OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { TEST_SEED } from '@berth/test-kit/seeded-random';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AddOnWorld } from '../../controllers/addons/addon-world.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { AddOnHistory, makeReaderRole } from './addon-history.ts';
import { HUB_NAMESPACE } from './addon-objects.ts';
import { startOcmManager, workContent } from './ocm-addon-manager.ts';

/** So many histories of twelve changes. All of a round have their changes at the same time, on the same two hubs. */
const HISTORIES = Number(process.env['BERTH_ADDON_HISTORIES'] ?? 4);
const ROUND = 10;
const STEPS = 12;
/** OCM’s controllers write one after the other, and nothing shows which is the last. */
const SETTLED_MS = 2_500;
const LIFTED = ['--kube-api-qps=1000', '--kube-api-burst=1000'];

interface Reference {
  readonly resource: string;
  readonly desiredConfig?: { readonly name: string; readonly specHash?: string } | null;
  readonly lastAppliedConfig?: { readonly name: string; readonly specHash?: string } | null;
}

const configOf = (config: Reference['desiredConfig']): string =>
  config ? `${config.name} ${config.specHash?.slice(0, 8)}` : '';

const named = ({ resource, desiredConfig, lastAppliedConfig }: Reference): string =>
  `${resource} ${configOf(desiredConfig)}, applied ${configOf(lastAppliedConfig)}`;

const withoutTimes = (conditions: readonly Condition[] = []): readonly string[] =>
  conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort();

/** OCM judges the health before a work is applied only if a write of the work failed meanwhile. */
const withoutEarlyHealth = (conditions: readonly Condition[] = []): readonly Condition[] =>
  conditions.some(({ type }) => type === 'ManifestApplied')
    ? conditions
    : conditions.filter(({ type }) => type !== 'Available');

/** OCM 1.2.1 asks for this group, which every client has; 1.3 does not. */
const withoutAuthenticated = (key: string, value: unknown): unknown =>
  key === 'groups' && Array.isArray(value)
    ? value.filter((group) => group !== 'system:authenticated')
    : value;

/**
 * By name of the work: OCM’s owner has another uid on the other hub.
 * @param waits for its rollout: OCM may have deployed what was edited in place before it noticed
 */
async function worksOf(world: AddOnWorld, namespace: string, waits: boolean): Promise<unknown> {
  const { items } = await world.api.list(MANIFEST_WORK, { namespace });
  return (items as unknown as readonly ManifestWork[]).map((work) =>
    JSON.parse(JSON.stringify(workContent(work)), (key, value: unknown) =>
      key === 'uid' || (waits && key === 'data') ? undefined : value,
    ),
  );
}

/**
 * What both managers must agree on. OCM 1.2.1 counts the clusters of a placement in another message, and up to 1.3.1 the order of its
 * references is random. In 1.2.1 a placement never completes while another one takes over one of its clusters, or while one of them names
 * configurations itself.
 */
async function stateOf(
  world: AddOnWorld,
  { addOn: name, clusters, overlaps }: AddOnHistory,
): Promise<unknown> {
  let namesOwn = false;
  const onClusters = await Promise.all(
    clusters.map(async (cluster) => {
      const addon = await world.clusterAddOn(cluster, name);
      const status = (addon?.['status'] ?? {}) as {
        readonly conditions?: readonly Condition[];
        readonly configReferences?: readonly Reference[];
        readonly registrations?: readonly unknown[];
        readonly namespace?: string;
      };
      const { configs } = (addon?.['spec'] ?? {}) as { readonly configs?: readonly unknown[] };
      namesOwn ||= (configs?.length ?? 0) > 0;
      const isConfigured = findCondition(status.conditions, 'Configured')?.status === 'True';
      const owners = addon?.metadata.ownerReferences?.map(
        ({ kind, name: owner, controller }) => `${kind} ${owner} ${controller}`,
      );
      return {
        ...{ cluster, owners, namespace: status.namespace },
        registrations: JSON.parse(
          JSON.stringify(status.registrations ?? [], withoutAuthenticated),
        ) as unknown,
        references: (status.configReferences ?? []).map(named),
        // The progress of an add-on that waits is that of what OCM may have deployed early.
        conditions: withoutTimes(withoutEarlyHealth(status.conditions)).filter(
          (one) => isConfigured || !one.startsWith('Progressing '),
        ),
        works: await worksOf(world, cluster, !isConfigured),
      };
    }),
  );
  const addOn = await world.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name });
  const { defaultconfigReferences = [], installProgressions = [] } = (addOn?.['status'] ?? {}) as {
    readonly defaultconfigReferences?: readonly Reference[];
    readonly installProgressions?: readonly {
      readonly name: string;
      readonly conditions?: readonly Condition[];
      readonly configReferences?: readonly Reference[];
    }[];
  };
  const isCounted = !overlaps && !namesOwn;
  const progressions = installProgressions.map(({ name: placement, conditions, configReferences = [] }) => {
    const isComplete = conditions?.some(({ reason }) => reason === 'Completed') === true && isCounted;
    const references = configReferences.map((one) =>
      isComplete ? one : { ...one, lastAppliedConfig: null },
    );
    return [placement, references.map(named).sort(), isCounted ? withoutTimes(conditions) : []];
  });
  return { onClusters, defaults: defaultconfigReferences.map(named), progressions };
}

async function startWorlds(histories: readonly AddOnHistory[]) {
  const dir = mkdtempSync(join(tmpdir(), 'berth-addon-histories-'));
  const [ours, theirs] = [await AddOnWorld.create(), await AddOnWorld.create()];
  for (const world of [ours, theirs]) {
    await world.make(NAMESPACE, { metadata: { name: HUB_NAMESPACE } });
    await makeReaderRole(world);
    await Promise.all(histories.map((history) => history.prepare(world)));
  }
  // OCM has no budget.
  ours.start(['install', 'configuration', 'deployment', 'registration'], {
    budget: { percent: 100, atLeast: 1_000 },
  });
  const manager = await startOcmManager(theirs.hub.kubeconfig, dir, LIFTED);
  onTestFinished(async () => {
    await manager.stop();
    await Promise.all([ours.close(), theirs.close()]);
    rmSync(dir, { recursive: true, force: true });
  });
  return { ours, theirs };
}

/**
 * Waits until both hubs have the same state, and OCM's has stayed for a while.
 * @param saying what was done so far
 */
async function expectSame(
  worlds: { readonly ours: AddOnWorld; readonly theirs: AddOnWorld },
  histories: readonly AddOnHistory[],
  saying: (history: number) => string,
): Promise<void> {
  const statesOf = (world: AddOnWorld) => Promise.all(histories.map((history) => stateOf(world, history)));
  const startedAt = Date.now();
  for (let [before, since] = ['', startedAt]; ; ) {
    const [have, want] = [await statesOf(worlds.ours), await statesOf(worlds.theirs)];
    const text = JSON.stringify(want);
    if (text !== before) [before, since] = [text, Date.now()];
    const isSame = jsonEqual(have, want);
    if (isSame && Date.now() - since > SETTLED_MS) return;
    if (!isSame && Date.now() - startedAt > OUTAGE_PATIENCE_MS)
      for (const [at, state] of have.entries()) expect(state, saying(at)).toEqual(want[at]);
    // fixed wait: nothing shows that the last controller of OCM has written
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

const rounds = Array.from({ length: Math.ceil(HISTORIES / ROUND) }, (_, round) => {
  const count = Math.min(ROUND, HISTORIES - round * ROUND);
  return { first: TEST_SEED + round * ROUND, count };
});

describe.skipIf(!hasPeers('ocm/addon'))('add-ons under the same changes', () => {
  it.each(rounds)(
    'are the same with OCM’s add-on manager and with ours: $count seeds from $first',
    { timeout: LONG_RUN_MS },
    async ({ first, count }) => {
      const histories = Array.from({ length: count }, (_, at) => new AddOnHistory(`h${at}`, first + at));
      const { ours, theirs } = await startWorlds(histories);
      const made = histories.map((): string[] => []);
      for (let step = 0; step < STEPS; step++) {
        const steps = histories.map((history) => history.next());
        for (const [at, { what }] of steps.entries()) made[at]?.push(what);
        for (const world of [ours, theirs]) await Promise.all(steps.map(({ make }) => make(world)));
        const saying = (at: number): string => `seed ${first + at}: ${made[at]?.join('; ')}`;
        await expectSame({ ours, theirs }, histories, saying);
      }
    },
  );
});
