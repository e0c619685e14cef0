import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { baseFiles, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

describe('a hub that refuses works for a moment', () => {
  let fleet: ServedFleet;
  let hub: RefusingKubeApi;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    hub = new RefusingKubeApi(fleet.hub.api, 'kube.forbidden');
    for (const name of ['c1', 'c2'])
      await fleet.hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const files = { ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 }), replicaSet) };
    fleet.git.commit(files);
  });
  afterEach(() => fleet.close());

  const works = async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length;

  it('to the work controllers: berth status names the replica set until its works are there', async () => {
    hub.refused.add('create manifestworks');
    await fleet.serve({ api: hub, http: fleet.http() });
    await fleet.event('error', ({ where }) => where === 'replica set team-a/web');
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toContain('Warning: ManifestWorkReplicaSet team-a/web failed and is tried again');
    hub.refused.clear();
    await expect.poll(works).toBe(2);
    await expect.poll(async () => (await fleet.status()).stdout).not.toContain('Warning');
  });

  it('to the sync: what was refused is applied at the next poll', async () => {
    hub.refused.add('patch manifestworkreplicasets');
    await fleet.serve({ api: hub, resyncIntervalMs: 3_600_000 });
    const { object } = await fleet.event('sync-problem');
    expect(object).toContain('ManifestWorkReplicaSet team-a/web');
    hub.refused.clear();
    await expect.poll(works).toBe(2);
  });
});
