import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { baseFiles, namespace, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const OLD = { 'berth.dev/plan': '0123456789ab' };

/** The plan and the controller agree on which approvals count, also with two sources of one repository. */
describe('an approval', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    const files = Object.entries(baseFiles).map(([file, text]) => [`fleet/${file}`, text]);
    fleet.git.commit({ ...Object.fromEntries(files), 'apps/own.yaml': yaml(namespace('own')) }, 'First');
  });
  afterEach(() => fleet.close());

  async function serve(web: Record<string, string>): Promise<void> {
    fleet.git.commit({ 'fleet/web.yaml': yaml(placement('web', {}, web)) }, 'Web');
    const { path: url } = fleet.git;
    const ref = { type: 'branch', name: 'main' } as const;
    await fleet.serve({ sources: ['fleet', 'apps'].map((name) => ({ name, url, ref, paths: [name] })) });
    await fleet.published('web');
    fleet.git.run('checkout', '-q', '-b', 'next');
  }

  async function planned(): Promise<Plan['placements'][number] | undefined> {
    const settings = join(fleet.dataDir, 'berth.yaml');
    const { path: url } = fleet.git;
    writeFileSync(
      settings,
      yaml({ sources: ['fleet', 'apps'].map((name) => ({ name, url, paths: [name], kinds: ['*'] })) }),
    );
    const { stdout, stderr } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'next', '--kubeconfig', fleet.hub.kubeconfig],
      ...['--config', settings, '--source', 'fleet', '--source', 'apps', '-o', 'json'],
    );
    expect(stderr).toBe('');
    return (JSON.parse(stdout) as Plan).placements.find(({ name }) => name === 'web');
  }

  it('is not new when its placement moves to the other source', async () => {
    await serve(OLD);
    fleet.git.commit(
      {
        'fleet/web.yaml': undefined,
        'apps/web.yaml': yaml(placement('web', {}, OLD)),
        'fleet/clusters.yaml': retired(1),
      },
      'Move web, and retire a cluster',
    );
    expect((await planned())?.held).toBeUndefined();
    const seen = fleet.events.length;
    fleet.git.merge('next');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1'] });
  });

  it('counts on an object that belongs to the other source', async () => {
    await serve({});
    fleet.git.commit(
      { 'apps/web.yaml': yaml(placement('web', {}, OLD)), 'fleet/clusters.yaml': retired(1) },
      'Declare web twice, and retire a cluster',
    );
    const plan = await planned();
    expect(plan?.held?.reason).toBe('DiffersFromPlan');
    fleet.git.merge('next');
    const { message } = await fleet.held('web', 'True', 'DiffersFromPlan');
    expect(message).toContain(`--token ${plan?.token}`);
  });

  it('ends with the next commit if the change was held for another reason', async () => {
    await serve({});
    fleet.git.run('checkout', '-q', 'main');
    fleet.git.commit(
      { 'fleet/web.yaml': yaml(placement('web', {}, OLD)), 'fleet/clusters.yaml': retired(4) },
      'Retire four clusters',
    );
    await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    await fleet.advance(2_500);
    fleet.git.run('checkout', '-q', '-B', 'next');
    fleet.git.commit({ 'fleet/clusters.yaml': retired(1) }, 'Retire one cluster');
    expect((await planned())?.held).toBeUndefined();
    const seen = fleet.events.length;
    fleet.git.merge('next');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1'] });
  });
});
