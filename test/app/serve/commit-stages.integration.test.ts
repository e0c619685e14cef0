import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { AgentBesideControllers } from '../../agent/apply/agent-beside-controllers.ts';
import { template } from '../../core/work/replica-set-harness.ts';
import { baseFiles, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const CLUSTERS = ['c1', 'c2', 'c3'];

describe('the stages of commits on /metrics', () => {
  let fleet: ServedFleet;
  let agents: readonly AgentBesideControllers[];
  let url: string;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    for (const name of CLUSTERS)
      await fleet.hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    agents = CLUSTERS.map((name) => new AgentBesideControllers(fleet.hub.api, name));
    fleet.git.commit({ ...baseFiles, ...web(1), 'works.yaml': yaml(replicaSet) });
  });
  afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.stop()));
    await fleet.close();
  });

  const web = (numberOfClusters: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters })) });
  /** How many commits have reached each stage: followed, decided, published, applied. */
  const counts = async (): Promise<readonly number[]> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return ['followed', 'decided', 'published', 'applied'].map((stage) => {
      const sample = `berth_commit_stage_seconds_count{stage="${stage}"} `;
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(sample))
          ?.slice(sample.length),
      );
    });
  };
  const serve = async (): Promise<void> => {
    url = (await fleet.serve({ http: fleet.http() })).url ?? '';
    await fleet.event('work-written', ({ cluster }) => cluster === 'c1');
  };

  it('count each commit once per stage, the last one when its last agent has applied its work', async () => {
    await serve();
    // An earlier process may have followed the first commit.
    expect(await counts()).toEqual([0, 0, 0, 0]);
    await agents[0]?.start();
    fleet.git.commit(web(3));
    await expect.poll(counts).toEqual([1, 1, 1, 0]);
    await agents[1]?.start();
    const before = fleet.events.length;
    fleet.git.commit({ 'README.md': 'no object\n' });
    await fleet.event('synced', () => true, before);
    await expect.poll(counts).toEqual([2, 2, 1, 0]);
    await agents[2]?.start();
    await expect.poll(counts).toEqual([2, 2, 1, 1]);
    const changed = { ...replicaSet, spec: { ...replicaSet.spec, manifestWorkTemplate: template('2') } };
    fleet.git.commit({ 'works.yaml': yaml(changed) });
    await expect.poll(counts).toEqual([3, 3, 1, 2]);
  });

  it('count neither what is held nor what a restart reads again', async () => {
    await serve();
    fleet.git.commit(web(3));
    await expect.poll(counts).toEqual([1, 1, 1, 0]);
    await fleet.stop();
    url = (await fleet.serve({ http: fleet.http(), budget: { percent: 0, atLeast: 0 } })).url ?? '';
    await fleet.event('synced');
    fleet.git.commit(web(1));
    await fleet.held('web', 'True');
    await expect.poll(counts).toEqual([1, 1, 0, 0]);
  });
});
