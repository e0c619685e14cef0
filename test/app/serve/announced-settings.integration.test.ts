import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LEASE } from '@berth/kube/model/kinds';
import { CONTROLLER_LEASES } from '../../../src/controllers/inventory/schedulable-placement.ts';
import { readAnnouncedSettings } from '../../../src/controllers/leadership/announced-settings.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { SETTINGS_ANNOTATION } from '../../../src/core/registration/install/controller-announcement.ts';
import { baseFiles, namespace, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const ANNOUNCEMENT = { name: 'berth-controller-test', identity: 'test' };

/** A plan knows how the controller of its hub is set: no flag repeats that. */
describe('a plan with a hub', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
  });
  afterEach(() => fleet.close());

  const MAIN = { type: 'branch', name: 'main' } as const;
  const plan = async (...flags: string[]): Promise<Plan> => {
    const { stdout } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'change', '-o', 'json', ...flags],
    );
    return JSON.parse(stdout) as Plan;
  };
  const onHub = () => ['--kubeconfig', fleet.hub.kubeconfig];
  const announced = () => expect.poll(() => readAnnouncedSettings(fleet.hub.api)).not.toEqual([]);
  const note = ({ notEvaluated }: Plan) => notEvaluated.find((text) => text.includes('settings'));

  it('holds what its controller holds, by the budget and the kinds that it announced', async () => {
    const settings = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 's', namespace: 'team-a' } };
    fleet.git.commit({ 'settings.yaml': yaml(settings) });
    const source = { name: 'clusters', url: fleet.git.path, ref: MAIN, budget: { percent: 0, atLeast: 1 } };
    await fleet.serve({ announcement: ANNOUNCEMENT, deletionWindowMs: 90_000, sources: [source] });
    await fleet.published('web');
    await announced();
    fleet.git.run('checkout', '-q', '-b', 'change');
    fleet.git.commit({ 'clusters.yaml': retired(2), 'settings.yaml': undefined });
    const planned = await plan(...onHub());
    expect(planned.placements).toMatchObject([{ name: 'web', held: { reason: 'RemovalBudgetExceeded' } }]);
    expect(planned.objects.map(({ ref }) => ref.kind)).toContain('ConfigMap');
    expect(note(planned)).toBe(
      'The plan uses the settings that the controller on the hub announced (Berth test, source clusters): all placements of ' +
        'the hub, removal budget 1, removal window 1m30s. Flags override them.',
    );
    const overridden = await plan(...onHub(), '--removal-budget', '2');
    expect(overridden.placements.map(({ name, held }) => [name, held])).toEqual([['web', undefined]]);
    // With an inventory, too.
    const file = `${fleet.dataDir}/hub.json`;
    await fleet.berth('snapshot', ...onHub(), '--file', file);
    expect((await plan('--inventory', file)).placements).toMatchObject(planned.placements);
    const seen = fleet.events.length;
    fleet.git.merge('change');
    const held = await fleet.event('held', ({ placement: name }) => name === 'team-a/web', seen);
    expect(held.message).toContain(`--token ${planned.placements[0]?.token}`);
  });

  it('is of the source whose address the clone has', async () => {
    fleet.second.commit({ 'own.yaml': yaml(namespace('own')) });
    await fleet.serve({
      announcement: ANNOUNCEMENT,
      sources: [
        { name: 'apps', url: fleet.second.path },
        { name: 'fleet', url: fleet.git.path, ref: MAIN, paths: ['*.yaml'] },
      ],
    });
    await fleet.published('web');
    await announced();
    fleet.git.run('checkout', '-q', '-b', 'change');
    fleet.git.commit({ 'other/ignored.yaml': yaml(placement('ignored')), 'clusters.yaml': retired(1) });
    const own = await plan(...onHub());
    expect(note(own)).toContain('source fleet');
    expect(own.placements.map(({ name }) => name)).toEqual(['web']);
    const named = await plan(...onHub(), '--source', 'apps', '--path', '*.yaml');
    expect(note(named)).toContain('source apps');
    const { stderr } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'change', ...onHub(), '--source', 'app'],
    );
    expect(stderr).toContain('--source: got "app", expected apps or fleet');
  });

  it('uses the defaults, and says so, if what was announced cannot be read', async () => {
    await fleet.serve({ announcement: ANNOUNCEMENT, sources: [{ url: fleet.git.path, ref: MAIN }] });
    await fleet.published('web');
    await announced();
    await fleet.stop();
    for (const { metadata } of (await fleet.hub.api.list(LEASE, CONTROLLER_LEASES)).items)
      await fleet.hub.api.mergePatch(
        LEASE,
        { namespace: metadata.namespace ?? '', name: metadata.name },
        { metadata: { annotations: { [SETTINGS_ANNOTATION]: '{"sources": 1' } } },
      );
    fleet.git.run('checkout', '-q', '-b', 'change');
    fleet.git.commit({ 'clusters.yaml': retired(1) });
    const planned = await plan(...onHub());
    expect(planned.placements).toHaveLength(1);
    expect(planned.notEvaluated.join()).toContain('No controller on the hub has said how it is set');
  });
});
