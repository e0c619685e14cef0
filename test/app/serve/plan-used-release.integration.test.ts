import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '../../../src/core/model/kinds.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { baseFiles, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** On a hub that is not embedded the records of releases are on the hub, where a plan finds them. */
describe('a plan of a change that was released before', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First');
    await fleet.serve({
      sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }],
      embedded: false,
    });
    await fleet.published('web');
  });
  afterEach(() => fleet.close());

  const retiring = (count: number) => ({ 'clusters.yaml': retired(count) });
  const tokenIn = (message: string) => /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';

  it('names the token of now, under which it is held', async () => {
    let mark = fleet.events.length;
    fleet.git.commit(retiring(4), 'Retire four clusters');
    const used = tokenIn((await fleet.held('web', 'True', 'RemovalBudgetExceeded')).message);
    await fleet.berth('release', 'team-a/web', '--kubeconfig', fleet.hub.kubeconfig, '--token', used);
    await fleet.published('web', mark);
    await fleet.held('web', 'False');
    mark = fleet.events.length;
    fleet.git.commit(retiring(0), 'They are needed after all');
    expect(await fleet.published('web', mark)).toMatchObject({ added: ['c1', 'c2', 'c3', 'c4'] });
    await fleet.until(async () => {
      const records = await fleet.hub.api.get(CONFIG_MAP, { namespace: 'team-a', name: 'berth-records' });
      return JSON.stringify(records ?? {}).includes(used) ? true : undefined;
    });

    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit(retiring(4), 'Retire four clusters again');
    const { stdout } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'retire', '--kubeconfig', fleet.hub.kubeconfig, '-o', 'json'],
    );
    const [planned] = (JSON.parse(stdout) as Plan).placements;
    expect(planned?.token).not.toBe(used);
    expect(planned?.held?.message).toContain(`--token ${planned?.token}`);
    fleet.git.merge('retire');
    const held = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(tokenIn(held.message)).toBe(planned?.token);
  });
});
