import { afterEach, describe, expect, it } from 'vitest';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import { ADDON_PLACEMENT_SCORE, type KindInfo, NAMESPACE, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { baseFiles, cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { restrictedClient } from '../../app/serve/restricted-controller.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

const RBAC = 'rbac.authorization.k8s.io';
const roleKind = (kind: string): KindInfo => ({
  group: RBAC,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
});
const DUTIES = { applies: true, schedule: 'berth', works: false, embedded: false, secrets: [] } as const;
const CLUSTER = 'cluster.open-cluster-management.io';

const drained = { taints: [{ key: 'drain', value: 'x', effect: 'NoSelect' }] };
const drain = (...gone: number[]) =>
  yaml(...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, gone.includes(n) ? drained : {})));
const scored = placement('scored', {
  numberOfClusters: 2,
  prioritizerPolicy: {
    mode: 'Exact',
    configurations: [
      { scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } }, weight: 1 },
    ],
  },
});
const FILES = { ...baseFiles, 'web.yaml': yaml(placement('web')), 'scored.yaml': yaml(scored) };

describe('a kind that Berth watches and may not read', () => {
  let fleet: ServedFleet;
  let restricted: Awaited<ReturnType<typeof restrictedClient>>;
  afterEach(async () => {
    await fleet.close();
    restricted.close();
  });

  async function start(missing: string): Promise<void> {
    fleet = await ServedFleet.create({ admission: hubAdmission() });
    restricted = await restrictedClient(fleet, DUTIES, missing);
    for (const name of ['team-a', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6'])
      await fleet.hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await fleet.hub.api.create(ADDON_PLACEMENT_SCORE, {
      apiVersion: `${CLUSTER}/v1alpha1`,
      kind: 'AddOnPlacementScore',
      metadata: { name: 'usage', namespace: 'c5' },
    });
    await fleet.hub.api.mergePatch(
      ADDON_PLACEMENT_SCORE,
      { namespace: 'c5', name: 'usage' },
      { status: { scores: [{ name: 'cpu', value: 90 }] } },
      { subresource: 'status' },
    );
  }
  const serve = () => fleet.serve({ api: restricted.api, embedded: false, http: fleet.http() });
  async function grant(plural: string, group: string, verbs: readonly string[]): Promise<void> {
    const metadata = { name: 'berth-late' };
    await fleet.hub.api.create(roleKind('ClusterRole'), {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: [{ apiGroups: [group], resources: [plural], verbs }],
    });
    await fleet.hub.api.create(roleKind('ClusterRoleBinding'), {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'berth-late' },
      subjects: [{ kind: 'ServiceAccount', name: 'berth', namespace: 'berth-system' }],
    });
  }
  const listed = (name: string, count: number) =>
    fleet.until(async () => ((await fleet.decisions(name)).length === count ? true : undefined));

  it('AddOnPlacementScores: holds the placements that use scores, names the right, and goes on when it is given', async () => {
    await start('list addonplacementscores');
    fleet.git.commit(FILES);
    const controller = await serve();
    expect((await fleet.published('web')).clusters).toHaveLength(6);
    const { message } = await fleet.held('scored', 'True', 'InventoryStale');
    expect(message).toContain(
      `the right to list addonplacementscores.${CLUSTER} in all namespaces is missing`,
    );
    expect(message).toContain('berth serve --print-rbac');
    // Nothing was published: not an empty decision either.
    const { items } = await fleet.hub.api.list(PLACEMENT_DECISION);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['web-decision-1']);
    await controller.whenReady();
    expect(await fetch(`${controller.url}/readyz`).then(({ status }) => status)).toBe(200);
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toMatch(/Warning: the right to list addonplacementscores.* scores of add-ons are held/);
    // What does not depend on it follows its commits.
    fleet.git.commit({ 'clusters.yaml': drain(1) });
    await listed('web', 5);
    await grant('addonplacementscores', CLUSTER, ['list', 'watch']);
    await listed('scored', 2);
    expect(await fleet.decisions('scored')).toContain('c5');
    await fleet.held('scored', 'False');
    expect((await fleet.status()).stdout).not.toContain('Warning: the right');
  });

  it('ManifestWorks: only moves that make before they break wait', async () => {
    await start('list manifestworks');
    const moving = (name: string, policy: Record<string, string>) =>
      yaml(placement(name, { numberOfClusters: 1 }, policy));
    fleet.git.commit({
      ...baseFiles,
      'web.yaml': moving('web', {}),
      'careful.yaml': moving('careful', { 'berth.dev/move-policy': 'MakeBeforeBreak' }),
    });
    await serve();
    await Promise.all([fleet.published('web'), fleet.published('careful')]);
    const [there] = await fleet.decisions('careful');
    fleet.git.commit({
      'clusters.yaml': drain(
        ...[there, ...(await fleet.decisions('web'))].map((name) => Number(name?.slice(1))),
      ),
    });
    const { message } = await fleet.held('careful', 'True', 'InventoryStale');
    expect(message).toContain('the right to list manifestworks.work.open-cluster-management.io');
    expect(await fleet.decisions('careful')).toEqual([there]);
    const drainedNow = async () => !(await fleet.decisions('web')).includes(there ?? '');
    await fleet.until(async () => ((await drainedNow()) ? true : undefined));
    await listed('web', 1);
    await grant('manifestworks', 'work.open-cluster-management.io', ['list', 'watch']);
    // Now the new one runs beside the old one, until its work is ready.
    await listed('careful', 2);
    await fleet.held('careful', 'False');
  });

  it('ManagedClusterSets: holds every change, says so on the placements, and loses nothing', async () => {
    await start('list managedclustersets');
    await grant('managedclustersets', CLUSTER, ['list', 'watch']);
    fleet.git.commit(FILES);
    await serve();
    await fleet.published('web');
    await fleet.stop();
    const before = (await fleet.read('web')).status;
    await fleet.hub.api.delete(roleKind('ClusterRoleBinding'), { namespace: '', name: 'berth-late' });
    await fleet.hub.api.delete(roleKind('ClusterRole'), { namespace: '', name: 'berth-late' });
    const controller = await serve();
    const { message } = await fleet.held('web', 'True', 'InventoryStale');
    expect(message).toContain(`the right to list managedclustersets.${CLUSTER} in all namespaces is missing`);
    expect(await fleet.decisions('web')).toHaveLength(6);
    // What was said of the decision that is published still holds.
    const conditions = (await fleet.read('web')).status?.conditions ?? [];
    expect(conditions.filter(({ type }) => type !== 'berth.dev/Held')).toEqual(before?.conditions);
    expect(await fetch(`${controller.url}/readyz`).then((answer) => answer.text())).toContain(
      'the right to list managedclustersets',
    );
    await grant('managedclustersets', CLUSTER, ['list', 'watch']);
    await fleet.held('web', 'False');
    expect(await fleet.decisions('web')).toHaveLength(6);
  });

  it('the watch alone: goes on by lists, and says so', async () => {
    await start('watch addonplacementscores');
    fleet.git.commit(FILES);
    await serve();
    await Promise.all([fleet.published('web'), fleet.published('scored')]);
    await fleet.until(async () => {
      const { stdout } = await fleet.status();
      return /the right to watch addonplacementscores.*lists it periodically/.test(stdout) ? true : undefined;
    });
  });
});
