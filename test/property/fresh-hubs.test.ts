import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { firstSeed } from '@berth/test-kit/test-seed';
import { type Death, Lives } from './plan-outcome/lives.ts';

vi.mock('node:fs/promises', async (original) => {
  const { mortalFs } = await import('@berth/test-kit/mortal-disk');
  return mortalFs(await original());
});

/*
 * The same repository on hubs that hold nothing yet: its objects in any files and in any order, and the controller killed at any write,
 * between two pages too. The PlacementDecisions are the same, byte for byte. BERTH_FRESH_HUBS sets the number of hubs, BERTH_SEED the seed.
 */
const HUBS = Number(process.env['BERTH_FRESH_HUBS'] ?? 4);
const SEED = firstSeed(3);
const WAIT = { timeout: Number(process.env['BERTH_PLAN_WAIT_MS'] ?? PATIENCE_MS) };

const balance = {
  mode: 'Exact',
  configurations: [{ scoreCoordinate: { type: 'BuiltIn', builtIn: 'Balance' }, weight: 1 }],
};
const grouped = { decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: 2 } } };
const PLACEMENTS = ['a', 'b', 'c', 'd', 'e'].map((name, at) =>
  placement(name, { numberOfClusters: 5, prioritizerPolicy: balance, ...(at % 2 === 0 && grouped) }),
);
const CLUSTERS = Array.from({ length: 12 }, (_, at) => cluster(`c${at + 1}`));
const OBJECTS: readonly object[] = [namespace('team-a'), clusterSet, binding(), ...CLUSTERS, ...PLACEMENTS];

/** About as many as it takes to publish them all. */
const PAGE_WRITES = 30;

interface Way {
  /** Of `OBJECTS`. */
  readonly order: readonly number[];
  /** Objects in a file. */
  readonly perFile: number;
  /** Clusters are in the first or the last files. */
  readonly clusters: 'first' | 'last' | 'anywhere';
  readonly death: Death | undefined;
}

const way: fc.Arbitrary<Way> = fc.record({
  order: fc.shuffledSubarray([...OBJECTS.keys()], { minLength: OBJECTS.length }),
  perFile: fc.constantFrom(1, 3, OBJECTS.length),
  clusters: fc.constantFrom('first', 'last', 'anywhere'),
  death: fc.option(
    fc.record({
      writes: fc.integer({ min: 1, max: OBJECTS.length + PAGE_WRITES }),
      lastIsDone: fc.boolean(),
    }),
    { nil: undefined },
  ),
});

function filesOf({ order, perFile, clusters }: Way): Record<string, string> {
  const rank = (at: number): number => {
    if (clusters === 'anywhere') return 0;
    const isCluster = CLUSTERS.includes(OBJECTS[at] as (typeof CLUSTERS)[number]);
    return isCluster === (clusters === 'first') ? 0 : 1;
  };
  const objects = order.toSorted((a, b) => rank(a) - rank(b)).map((at) => OBJECTS[at] as object);
  const files: Record<string, string> = {};
  for (let at = 0; at < objects.length; at += perFile)
    files[`${String(at).padStart(3, '0')}.yaml`] = yaml(...objects.slice(at, at + perFile));
  return files;
}

/** Pages as they are, without what a hub makes up by itself. */
async function pagesOn(fleet: ServedFleet): Promise<string> {
  const { items } = await fleet.hub.api.list(PLACEMENT_DECISION);
  const pages = items.map(({ metadata: { namespace: place = '', name, labels, annotations }, ...rest }) => ({
    metadata: { namespace: place, name, labels, annotations },
    status: rest['status'],
  }));
  const keyed = pages.map((page) => [`${page.metadata.namespace}/${page.metadata.name}`, page] as const);
  return JSON.stringify(
    keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, page]) => page),
    undefined,
    1,
  );
}

async function decisionsAfter(one: Way): Promise<string> {
  const fleet = await ServedFleet.create();
  const lives = new Lives(fleet, {});
  try {
    fleet.git.commit(filesOf(one), 'First');
    await lives.begin();
    const areAllListed = async (): Promise<boolean> => {
      const listed = await Promise.all(PLACEMENTS.map(({ metadata }) => fleet.decisions(metadata.name)));
      return listed.every(({ length }) => length === 5);
    };
    if (one.death !== undefined) {
      lives.dieAfter(one.death);
      await expect.poll(async () => lives.isDead || (await areAllListed()), WAIT).toBe(true);
      await lives.killAndBegin();
      await lives.whenReady();
    }
    await expect.poll(areAllListed, WAIT).toBe(true);
    return await pagesOn(fleet);
  } finally {
    await fleet.close();
    lives.remove();
  }
}

describe('the same repository on fresh hubs', () => {
  it(`gives the same PlacementDecisions on ${HUBS} hubs (seed ${SEED})`, async () => {
    const plain: Way = { order: [...OBJECTS.keys()], perFile: 1, clusters: 'anywhere', death: undefined };
    const wanted = await decisionsAfter(plain);
    for (const one of fc.sample(way, { numRuns: HUBS - 1, seed: SEED }))
      expect(await decisionsAfter(one), JSON.stringify(one)).toBe(wanted);
  });
});
