import { cpSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { type RunningMembers, startMembers } from '@berth/agent/simulation/start-members';
import { CONFIG_MAP, MANAGED_CLUSTER, MANAGED_CLUSTER_SET } from '@berth/kube/model/kinds';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { registerMember } from '../../../packages/agent/src/simulation/start-members.ts';
import { cluster, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../../examples/guestbook-fleet');
const SET = 'cluster.open-cluster-management.io/clusterset';
const NAMES = ['cluster1', 'cluster2', 'cluster3'];

describe('a cluster that a simulated member registered', () => {
  let fleet: ServedFleet;
  let members: RunningMembers | undefined;
  beforeEach(async () => {
    fleet = await ServedFleet.create({ members: NAMES });
  });
  afterEach(async () => {
    await members?.close();
    members = undefined;
    await fleet.close();
  });
  const read = async (name: string) => (await fleet.hub.api.get(MANAGED_CLUSTER, { namespace: '', name }))!;
  const managers = async (name: string) =>
    ((await read(name)).metadata.managedFields as { manager: string; fieldsV1: object }[]).map(
      ({ manager, fieldsV1 }) => `${manager} ${JSON.stringify(fieldsV1)}`,
    );

  it('is in the default set and accepted, and owns none of that', async () => {
    await registerMember(fleet.hub.api, 'cluster1');
    expect(await read('cluster1')).toMatchObject({
      metadata: { labels: { [SET]: 'default' } },
      spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
    });
    const version = (await read('cluster1')).metadata.resourceVersion;
    await registerMember(fleet.hub.api, 'cluster1');
    expect((await read('cluster1')).metadata.resourceVersion).toBe(version);
    expect(await managers('cluster1')).toEqual([
      'berth-member {"f:metadata":{"f:annotations":{"f:berth.dev/registered-by":{}}}}',
    ]);
    // A user who declares something else meets no conflict, and what nobody declares stays.
    const moved = { ...cluster('cluster1'), spec: { hubAcceptsClient: false } };
    await fleet.hub.api.apply(MANAGED_CLUSTER, moved, { fieldManager: 'anybody' });
    expect(await read('cluster1')).toMatchObject({
      metadata: { labels: { [SET]: 'prod' } },
      spec: { hubAcceptsClient: false, leaseDurationSeconds: 60 },
    });
  });

  it('finds the sets default and global, which Git may declare otherwise', async () => {
    const { hub } = fleet.hub;
    const start = { hub, names: ['cluster1'], agents: true, clock: systemClock, log: new SilentLogger() };
    members = await startMembers(start);
    const set = (name: string) => fleet.hub.api.get(MANAGED_CLUSTER_SET, { namespace: '', name });
    expect(await set('default')).toMatchObject({
      spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
    });
    expect(await set('global')).toMatchObject({
      spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
    });
    const own = {
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta2', kind: 'ManagedClusterSet' },
      metadata: { name: 'default' },
      spec: {
        clusterSelector: { selectorType: 'LabelSelector', labelSelector: { matchLabels: { a: 'b' } } },
      },
    };
    await fleet.hub.api.apply(MANAGED_CLUSTER_SET, own, { fieldManager: 'anybody' });
    await members.close();
    members = await startMembers(start);
    expect(await set('default')).toMatchObject({ spec: own.spec });
  });

  it('gives up its fields although it died right after the registration, or somebody writes in between', async () => {
    class DiesBeforeLettingGo extends InterceptedKubeApi {
      protected override read<T>(request: () => Promise<T>): Promise<T> {
        return request();
      }
      protected override write<T>(request: () => Promise<T>, right: string): Promise<T> {
        return right === 'patch managedclusters' ? Promise.reject(new Error('killed')) : request();
      }
      override async *watch(): AsyncGenerator<never> {}
    }
    await expect(registerMember(new DiesBeforeLettingGo(fleet.hub.api), 'cluster1')).rejects.toThrow(
      'killed',
    );
    expect((await managers('cluster1')).join()).toContain(SET);
    let races = 2;
    class Races extends DiesBeforeLettingGo {
      protected override async write<T>(request: () => Promise<T>): Promise<T> {
        if (races-- > 0) {
          const labels = { race: String(races) };
          await this.inner.mergePatch(
            MANAGED_CLUSTER,
            { namespace: '', name: 'cluster1' },
            { metadata: { labels } },
          );
        }
        return request();
      }
    }
    await registerMember(new Races(fleet.hub.api), 'cluster1');
    expect((await managers('cluster1')).find((entry) => entry.startsWith('berth-member '))).not.toContain(
      SET,
    );
    expect((await read('cluster1')).metadata.labels).toEqual({ [SET]: 'default', race: '0' });
  });

  it('belongs to the repository of the example, without force', async () => {
    const { hub } = fleet.hub;
    members = await startMembers({
      hub,
      names: NAMES,
      agents: true,
      clock: systemClock,
      log: new SilentLogger(),
      readyAfterMs: 10,
    });
    for (const entry of readdirSync(EXAMPLE))
      cpSync(path.join(EXAMPLE, entry), path.join(fleet.git.path, entry), { recursive: true });
    rmSync(path.join(fleet.git.path, 'README.md'));
    fleet.git.commit({ 'more.yaml': yaml({ ...CM, data: { a: 'b' } }) }, 'The example');
    await fleet.serve({ http: fleet.http() });
    await fleet.event('synced', ({ applied }) => applied > 0);
    await fleet.until(async () =>
      (await read('cluster1')).metadata.labels?.[SET] === 'prod' ? true : undefined,
    );
    expect(fleet.events.filter(({ kind }) => kind === 'sync-problem')).toEqual([]);
    await fleet.event(
      'published',
      ({ placement, clusters }) => placement === 'guestbook/frontend' && clusters.length > 0,
    );
  });
});

const CM = { apiVersion: 'v1', kind: CONFIG_MAP.kind, metadata: { name: 'more', namespace: 'guestbook' } };
