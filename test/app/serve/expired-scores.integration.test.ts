import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADDON_PLACEMENT_SCORE } from '@berth/kube/model/kinds';
import { baseFiles, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const HOUR_MS = 3_600_000;

const byScore = placement(
  'web',
  {
    numberOfClusters: 1,
    prioritizerPolicy: {
      mode: 'Exact',
      configurations: [
        {
          weight: 1,
          scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'free' } },
        },
      ],
    },
  },
  { 'berth.dev/removal-budget': '100%' },
);

describe('a score that expires while nothing else happens', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(byScore) }, 'First fleet');
    await fleet.serve();
    await fleet.published('web');
  });
  afterEach(() => fleet.close());

  const report = async (cluster: string, value: number, validMs: number): Promise<void> => {
    const { api } = fleet.hub;
    const key = { namespace: cluster, name: 'usage' };
    if ((await api.get(ADDON_PLACEMENT_SCORE, key)) === undefined)
      await api.create(ADDON_PLACEMENT_SCORE, {
        apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
        kind: 'AddOnPlacementScore',
        metadata: key,
      });
    const validUntil = new Date(fleet.clock.now() + validMs).toISOString().replace(/\.\d+Z$/, 'Z');
    const status = { validUntil, scores: [{ name: 'free', value }] };
    await api.mergePatch(ADDON_PLACEMENT_SCORE, key, { status }, { subresource: 'status' });
  };
  const decides = (cluster: string): Promise<true> =>
    fleet.until(async () => ((await fleet.decisions('web')).join() === cluster ? true : undefined));

  it('counts no more: the placement moves to the next best, one end after the other', async () => {
    await report('c5', 50, 2 * HOUR_MS);
    await decides('c5');
    await report('c6', 80, HOUR_MS);
    await decides('c6');
    await fleet.advance(HOUR_MS / 2);
    expect(await fleet.decisions('web')).toEqual(['c6']);
    await fleet.advance(HOUR_MS / 2 + 1_000);
    await decides('c5');
    await fleet.advance(HOUR_MS + 1_000);
    await decides('c1');
  });

  it('counts no more where it expired while the controller was away', async () => {
    await report('c6', 80, HOUR_MS);
    await decides('c6');
    await fleet.stop();
    fleet.clock.skip(2 * HOUR_MS);
    await fleet.serve();
    await decides('c1');
  });

  it('counts on when it is written again in time', async () => {
    await report('c6', 80, HOUR_MS);
    await decides('c6');
    await fleet.advance(HOUR_MS / 2);
    await report('c6', 70, 3 * HOUR_MS);
    await fleet.advance(HOUR_MS);
    expect(await fleet.decisions('web')).toEqual(['c6']);
    await fleet.advance(2 * HOUR_MS + 1_000);
    await decides('c1');
  });
});
