import { MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namespace, placement, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const MERGED = 'berth/merged/fleet';
const ALL = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];

const on = (count: number, budget: string) => ({
  'infra.yaml': yaml(placement('infra', { numberOfClusters: count }, { 'berth.dev/removal-budget': budget })),
});
const addOn = yaml({
  apiVersion: 'addon.open-cluster-management.io/v1alpha1',
  kind: 'ClusterManagementAddOn',
  metadata: { name: 'mesh' },
  spec: { installStrategy: { type: 'Placements', placements: [{ namespace: 'team-a', name: 'infra' }] } },
});

describe('a pull request by which clusters lose an add-on', () => {
  let previewed: PreviewedFleet;
  beforeEach(async () => {
    previewed = await PreviewedFleet.create();
    previewed.server.permissions.set('grace', 'write');
  });
  afterEach(() => previewed.close());

  const installed = async (): Promise<string> => {
    const { items } = await previewed.fleet.hub.api.list(MANAGED_CLUSTER_ADDON);
    return items
      .map(({ metadata }) => metadata.namespace ?? '')
      .sort()
      .join();
  };
  const becomes = (clusters: readonly string[]) =>
    previewed.fleet.until(async () => {
      await previewed.fleet.advance(2_000);
      return (await installed()) === clusters.join() ? true : undefined;
    });
  const status = (merged: string, state: string): Promise<string> =>
    previewed.fleet.until(async () => {
      await previewed.fleet.advance(5_000);
      const found = previewed.server.statusOf(merged, MERGED);
      return found?.state === state ? found.description : undefined;
    });
  const serve = async (budget: string): Promise<void> => {
    const files = { 'mesh.yaml': addOn, 'namespaces.yaml': yaml(...ALL.map(namespace)), ...on(6, budget) };
    await previewed.serve(files, {}, { addons: ['install'] });
    await becomes(ALL);
  };
  const open = async (number: number, files: Readonly<Record<string, string>>): Promise<string> => {
    const head = previewed.open(number, files);
    await previewed.changed(number, 'opened');
    await previewed.status(head, 'failure');
    return previewed.comment(number, 'Add-on');
  };
  const merge = async (number: number): Promise<string> => {
    const merged = previewed.merge(number);
    await previewed.changed(number, 'closed');
    return merged;
  };

  it('says that they keep it, and takes it away when that is approved', async () => {
    await serve('100%');
    const comment = await open(7, on(3, '100%'));
    expect(comment).toContain('clusters would keep add-on mesh');
    expect(comment).toContain(
      '**Add-on `mesh`**: 3 of 6 clusters would lose add-on mesh \\(budget 2\\): c4, c5, c6. They keep it.' +
        ' **Approving takes add-on mesh from `c4`, `c5`, `c6`, with its access to the hub.**',
    );
    const merged = await merge(7);
    expect(await status(merged, 'pending')).toBe(
      '1 change is held and not applied: add-on mesh stays on c4, c5, c6',
    );
    const notice = await previewed.comment(7, /:merged -->/);
    expect(notice).not.toContain('which this plan did not say');
    const [, code = ''] = /`\/berth approve ([0-9a-f]{12})`/.exec(notice) ?? [];
    await previewed.say(7, 'grace', `/berth approve ${code}`);
    await previewed.comment(7, 'add-on `mesh` leaves `c4`, `c5`, `c6`');
    await becomes(['c1', 'c2', 'c3']);
    expect(await status(merged, 'success')).toBe('As the plan said');
    await previewed.comment(
      7,
      /:merged -->[^]*the removal of add-on `mesh` from [^]*: released by grace on team/,
    );
  });

  it('has one code for the placement and the add-on that goes with it', async () => {
    await serve('1');
    const comment = await open(7, on(3, '1'));
    expect(comment).toContain(
      'When the held placements are approved, 3 of 6 clusters would lose add-on mesh',
    );
    const [, code = ''] = /`\/berth approve ([0-9a-f]{12})`/.exec(comment) ?? [];
    await previewed.say(7, 'grace', `/berth approve ${code}`);
    await previewed.comment(7, 'all that was held is approved');
    const merged = await merge(7);
    await becomes(['c1', 'c2', 'c3']);
    expect(await status(merged, 'success')).toBe('As the plan said');
  });
});
