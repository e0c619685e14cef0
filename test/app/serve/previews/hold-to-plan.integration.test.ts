import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { placement, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const two = { 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) };
const zoned = {
  'web.yaml': yaml(
    placement('web', {
      numberOfClusters: 1,
      predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { zone: 'a' } } } }],
    }),
  ),
};

/** A change of the hub that moves nothing now, and changes what a merge does. */
describe('with a source that holds merges to their plans', () => {
  let previewed: PreviewedFleet;
  beforeEach(async () => {
    previewed = await PreviewedFleet.create();
  });
  afterEach(() => previewed.close());

  const zone = (name: string, value: string | null) =>
    previewed.fleet.hub.api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { labels: { zone: value } } },
    );

  const planned = async (holdToPlan: boolean) => {
    await previewed.serve(two, { holdToPlan });
    await previewed.fleet.until(async () =>
      (await previewed.fleet.decisions('web')).join() === 'c1,c2' ? true : undefined,
    );
    await zone('c1', 'a');
    await previewed.fleet.advance(120_000);
    previewed.open(7, zoned);
    await previewed.changed(7, 'opened');
    expect(await previewed.comment(7, '−1 cluster')).toContain('`c2` leaves');
  };
  const decides = (clusters: string) =>
    previewed.fleet.until(async () =>
      (await previewed.fleet.decisions('web')).join() === clusters ? true : undefined,
    );

  it('a merge that does what the plan said is published', async () => {
    await planned(true);
    previewed.merge(7);
    await previewed.changed(7, 'closed');
    await decides('c1');
    await previewed.comment(7, 'Merged: everything is as this plan said.');
  });

  it('a merge that would take other clusters away is held, also after further commits, until it is released', async () => {
    await planned(true);
    await zone('c1', null);
    await zone('c2', 'a');
    const merged = previewed.merge(7);
    await previewed.changed(7, 'closed');
    const held = await previewed.fleet.until(async () => {
      const { status } = await previewed.fleet.read('web');
      const found = status?.conditions?.find(({ type }) => type === 'berth.dev/Held');
      return found?.reason === 'DiffersFromPlan' ? found.message : undefined;
    });
    expect(held).toContain(`commit ${merged.slice(0, 12)}`);
    expect(held).toContain('1 of 2 clusters would be removed: c1');
    await previewed.fleet.until(async () => {
      await previewed.fleet.advance(20_000);
      return previewed.server.statusOf(merged, 'berth/merged/fleet');
    });
    await previewed.comment(7, /:merged -->[^]*which this plan did not say: This is not the plan/);
    previewed.fleet.git.commit({ 'note.yaml': '' }, 'Another commit');
    await previewed.fleet.advance(120_000);
    expect(await previewed.fleet.decisions('web')).toEqual(['c1', 'c2']);
    const code = held.match(/\b[0-9a-f]{12}\b/g)?.at(-1) ?? '';
    previewed.fleet.git.commit(
      {
        'web.yaml': zoned['web.yaml'].replace(
          'namespace: team-a',
          `namespace: team-a\n  annotations: {berth.dev/release: "${code}"}`,
        ),
      },
      'Release',
    );
    await decides('c2');
  });

  it('without the setting it is published and told', async () => {
    await planned(false);
    await zone('c1', null);
    await zone('c2', 'a');
    const merged = previewed.merge(7);
    await previewed.changed(7, 'closed');
    await decides('c2');
    await previewed.fleet.until(async () => {
      await previewed.fleet.advance(20_000);
      return previewed.server.statusOf(merged, 'berth/merged/fleet');
    });
    await previewed.comment(7, /:merged -->[^]*though not planned/);
  });
});
