import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { dataOf } from '../../../src/controllers/publication/hub-records.ts';
import { baseFiles, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** The records are on the hub, where a plan finds them. */
describe.each([
  { hub: 'a hub', embedded: false },
  { hub: 'an embedded hub', embedded: true },
])('a plan on $hub', ({ embedded }) => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First');
    await fleet.serve({
      sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }],
      embedded,
    });
    await fleet.published('web');
  });
  afterEach(() => fleet.close());

  const retiring = (count: number) => ({ 'clusters.yaml': retired(count) });
  const codeIn = (message: string) => /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';

  const plannedOf = async (head: string) => {
    const hub = ['--kubeconfig', fleet.hub.kubeconfig, ...(embedded ? ['--embedded'] : [])];
    const { stdout } = await fleet.berth('plan', '--base', 'main', '--head', head, ...hub, '-o', 'json');
    return (JSON.parse(stdout) as Plan).placements[0];
  };

  it('knows what is already used of the budget', async () => {
    const seen = fleet.events.length;
    fleet.git.commit(retiring(1), 'Retire a cluster');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1'] });
    await fleet.until(async () => {
      const records = await fleet.hub.api.get(CONFIG_MAP, { namespace: 'team-a', name: 'berth-records' });
      return (
        Object.values(dataOf(records)).some((text) => text.includes('"removed":{"count":1')) || undefined
      );
    });
    fleet.git.run('checkout', '-q', '-b', 'more');
    fleet.git.commit(retiring(3), 'Retire two more');
    const planned = await plannedOf('more');
    expect(planned?.held?.message).toContain('after 1 in the last minutes');
    fleet.git.merge('more');
    const held = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(codeIn(held.message)).toBe(planned?.token);
  });

  it('names the code of now for a change that was released before', async () => {
    let seen = fleet.events.length;
    fleet.git.commit(retiring(4), 'Retire four clusters');
    const used = codeIn((await fleet.held('web', 'True', 'RemovalBudgetExceeded')).message);
    await fleet.berth('release', 'team-a/web', '--kubeconfig', fleet.hub.kubeconfig, '--token', used);
    await fleet.published('web', seen);
    await fleet.held('web', 'False');
    seen = fleet.events.length;
    fleet.git.commit(retiring(0), 'They are needed after all');
    expect(await fleet.published('web', seen)).toMatchObject({ added: ['c1', 'c2', 'c3', 'c4'] });
    await fleet.until(async () => {
      const records = await fleet.hub.api.get(CONFIG_MAP, { namespace: 'team-a', name: 'berth-records' });
      return JSON.stringify(records ?? {}).includes(used) ? true : undefined;
    });

    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit(retiring(4), 'Retire four clusters again');
    const planned = await plannedOf('retire');
    expect(planned?.token).not.toBe(used);
    expect(planned?.held?.message).toContain(`--token ${planned?.token}`);
    fleet.git.merge('retire');
    const held = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(codeIn(held.message)).toBe(planned?.token);
  });
});
