import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLACEMENT } from '@berth/kube/model/kinds';
import { baseFiles, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

describe('a placement that its source deletes while another source has a broken file', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  it('leaves no pages, and none that a new placement of its name would have to keep', async () => {
    const { git, hub } = fleet;
    const web = { 'apps/web.yaml': yaml(placement('web', { numberOfClusters: 2 })) };
    const other = { 'apps/other.yaml': yaml(placement('other', { numberOfClusters: 1 })) };
    git.commit({ ...baseFiles, ...web, ...other });
    await fleet.serve({
      sources: [
        { name: 'fleet', url: git.path, paths: ['*.yaml'] },
        { name: 'apps', url: git.path, paths: ['apps/**'] },
      ],
      budget: { percent: 100, atLeast: 0 },
    });
    await expect.poll(() => fleet.decisions('web')).toHaveLength(2);
    git.run('rm', '-q', 'apps/web.yaml');
    git.commit({ 'broken.yaml': '[' });
    const key = { namespace: 'team-a', name: 'web' };
    await expect.poll(() => hub.api.get(PLACEMENT, key)).toBeUndefined();
    await expect.poll(() => fleet.decisions('web')).toEqual([]);
    expect(await fleet.decisions('other')).toHaveLength(1);
  });
});
