import { afterEach, beforeEach, expect, it } from 'vitest';
import { EVENT } from '@berth/kube/model/kinds';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { baseFiles, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create();
});
afterEach(() => fleet.close());

const told = async (): Promise<readonly (readonly [unknown, unknown])[]> => {
  const { items } = await fleet.hub.api.list(EVENT, { namespace: 'team-a' });
  return items
    .filter((event) => event['reportingController'] === 'placementController')
    .sort((a, b) => (String(a['eventTime']) < String(b['eventTime']) ? -1 : 1))
    .map((event) => [event['reason'], event['note']]);
};

it('tells on a placement what OCM tells, and nothing after a restart that changes nothing', async () => {
  const spec = { numberOfClusters: 2, prioritizerPolicy: { mode: 'Exact' } };
  fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', spec)) }, 'First fleet');
  await fleet.serve();
  await fleet.published('web');
  const first = [
    ['DecisionCreate', 'Decision web-decision-1 is created with placement web in namespace team-a'],
    ['DecisionUpdate', 'Decision web-decision-1 is updated with placement web in namespace team-a'],
    ['ScoreUpdate', 'c1:0 c2:0 c3:0 c4:0 c5:0 c6:0'],
  ];
  await expect.poll(told).toEqual(first);

  await fleet.stop();
  const running = await fleet.serve();
  await running.whenReady();
  fleet.git.commit({ 'web.yaml': yaml(placement('web', { ...spec, numberOfClusters: 3 })) }, 'One more');
  await expect
    .poll(told)
    .toEqual([
      ...first,
      ['DecisionUpdate', 'Decision web-decision-1 is updated with placement web in namespace team-a'],
      ['ScoreUpdate', 'c1:0 c2:0 c3:0 c4:0 c5:0 c6:0'],
    ]);
});

it('tells that the hub refuses a decision, and that it does not any more', async () => {
  const hub = new RefusingKubeApi(fleet.hub.api, 'kube.forbidden');
  hub.refused.add('create placementdecisions');
  fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
  await fleet.serve({ api: hub });
  const reasons = async () => (await told()).map(([reason]) => reason);
  await expect.poll(reasons).toEqual(['PublishFailing']);
  hub.refused.clear();
  await expect.poll(reasons).toContain('PublishRecovered');
  expect((await reasons()).filter((reason) => reason === 'PublishFailing')).toHaveLength(1);
});
