import { LEASE, NAMESPACE } from '@berth/kube/model/kinds';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAddOns } from '../../../src/controllers/previews/read-addons.ts';
import { announcementLease } from '../../../src/core/registration/install/controller-announcement.ts';
import { DEFAULT_NAMESPACE } from '../../../src/core/sync/apply-set.ts';
import { AddOnWorld } from '../addons/addon-world.ts';

const NOTHING = { workloads: [], addOnsHeld: [] };

let world: AddOnWorld;
let hub: RefusingKubeApi;
beforeEach(async () => {
  world = await AddOnWorld.create();
  hub = new RefusingKubeApi(world.api, 'kube.forbidden');
  await world.addOn('a', [{ name: 'p' }]);
});
afterEach(() => world.close());

async function announce(addons: readonly string[]): Promise<void> {
  const settings = {
    ...{ version: '1', embedded: false, deletionWindow: 1, sources: [] },
    removalBudget: { percent: 0, atLeast: 7 },
  };
  const duties = { decides: 'own', applies: [], registration: [], addons } as const;
  const lease = announcementLease(
    {
      ...{ name: 'one', identity: 'x', durationSeconds: 30, renewedAtMs: Date.now(), duties },
      settings: JSON.stringify(settings),
    },
    DEFAULT_NAMESPACE,
  );
  await world.make(NAMESPACE, { metadata: { name: DEFAULT_NAMESPACE } });
  await world.make(LEASE, lease);
}

const inGit = (): Parameters<typeof readAddOns>[1] => [
  {
    objects: [
      {
        object: {
          apiVersion: 'addon.open-cluster-management.io/v1alpha1',
          kind: 'ClusterManagementAddOn',
          metadata: { name: 'a' },
        },
        location: { file: 'a.yaml', line: 1, column: 1 },
      },
    ],
  },
];

describe('what a plan knows of the add-ons on a hub', () => {
  it('is the budget of the controller that installs them', async () => {
    await announce(['health', 'install']);
    const { hub: read, judging } = await readAddOns(hub, []);
    expect(read?.managed.map(({ metadata, kind }) => [kind, metadata.name])).toEqual([
      ['ClusterManagementAddOn', 'a'],
    ]);
    expect(judging?.budget).toEqual({ percent: 0, atLeast: 7 });
    expect((await readAddOns(hub, [], { budget: { percent: 1, atLeast: 1 } })).judging?.budget.atLeast).toBe(
      1,
    );
  });

  it('is nothing where no controller installs them and Git has none', async () => {
    await announce(['health']);
    for (const refused of ['', 'list leases', 'list clustermanagementaddons']) {
      hub.refused.add(refused);
      const read = await readAddOns(hub, []);
      expect([read.hub, read.judging, read.notes(NOTHING)]).toEqual([undefined, undefined, []]);
    }
  });

  it('says nothing of holds where no controller installs those of Git', async () => {
    const { hub: read, judging, notes } = await readAddOns(hub, inGit());
    expect([read?.managed.length, judging]).toEqual([1, undefined]);
    const moved = {
      namespace: '',
      name: 'a',
      change: 'moved',
      placements: [],
      added: [],
      removed: ['c1'],
    } as const;
    const content = { kept: 0, changedOn: [], manifestCount: 0, manifests: [] };
    const workloads = [{ kind: 'ClusterManagementAddOn', ...moved, ...content }];
    expect(notes({ workloads, addOnsHeld: [] })).toEqual([
      'No controller on the hub says that Berth installs add-ons, so nothing holds that clusters lose a.',
    ]);
  });

  it('needs no right to read templates, and says which right is missing', async () => {
    await announce(['install']);
    hub.refused.add('list addontemplates').add('list addondeploymentconfigs');
    expect((await readAddOns(hub, [])).judging).toBeDefined();
    hub.refused.add('list managedclusteraddons');
    const { judging, notes } = await readAddOns(hub, []);
    expect(judging).toBeUndefined();
    expect(notes(NOTHING).join()).toContain(
      'cannot be read. The plan assumes them on the published clusters',
    );
  });
});
