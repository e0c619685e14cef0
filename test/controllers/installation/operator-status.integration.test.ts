import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CUSTOM_RESOURCE_DEFINITION, LEASE, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { applyObjects, deleteObjects } from '../../../src/controllers/installation/apply-objects.ts';
import { hasOcmOperator } from '../../../src/controllers/installation/installed-state.ts';
import { keepOperatorStatus } from '../../../src/controllers/installation/keep-operator-status.ts';
import { announcementLease } from '../../../src/core/registration/install/controller-announcement.ts';
import type { Installer } from '../../../src/core/registration/install/installed-object.ts';
import {
  CLUSTER_MANAGER,
  CLUSTER_MANAGER_NAME,
  clusterManagerObjects,
  KLUSTERLET,
  KLUSTERLET_NAME,
  klusterletObjects,
} from '../../../src/core/registration/install/operator-objects.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';

describe('the objects that show what is installed on an embedded hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  const stop = new AbortController();
  let keeping: Promise<void>;
  const installation = (installer: Installer) => ({
    ...{ api: hub.api, installer, clock: systemClock, report: () => undefined },
    signal: stop.signal,
  });
  const reasons = async (kind: typeof KLUSTERLET, name: string): Promise<unknown> => {
    const found = await hub.api.get(kind, { namespace: '', name });
    const { conditions = [] } = (found?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
    return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
  };
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    // The hub is its member, too.
    const options = { hub: hub.api, members: [hub.api], clock: systemClock, log: new SilentLogger() };
    keeping = keepOperatorStatus(options, stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await keeping;
    await hub.close();
  });

  it('say that no controller runs, and which duties one has that announces itself', async () => {
    await applyObjects(installation('init'), clusterManagerObjects());
    await expect
      .poll(() => reasons(CLUSTER_MANAGER, CLUSTER_MANAGER_NAME))
      .toEqual({
        Applied: 'True ClusterManagerApplied',
        HubRegistrationDegraded: 'True NoController',
        HubPlacementDegraded: 'True NoController',
      });
    const metadata = { name: 'berth-system' };
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata });
    const duties = { decides: 'none', applies: [], registration: ['acceptance'], addons: [] } as const;
    const lease = announcementLease(
      {
        ...{ name: 'berth-1', identity: 'one', durationSeconds: 3_600, duties, settings: '{}' },
        renewedAtMs: Date.now(),
      },
      'berth-system',
    );
    await hub.api.create(LEASE, lease);
    await expect
      .poll(() => reasons(CLUSTER_MANAGER, CLUSTER_MANAGER_NAME))
      .toMatchObject({
        HubRegistrationDegraded: 'False RegistrationFunctional',
        HubPlacementDegraded: 'True NoController',
      });
  });

  it('are no proof of an operator, but one that somebody else wrote is', async () => {
    expect(await hasOcmOperator(hub.api)).toBe(false);
    const [, object] = clusterManagerObjects();
    await hub.api.create(CLUSTER_MANAGER, { ...(object as KubeObject), metadata: { name: 'other' } });
    expect(await hasOcmOperator(hub.api)).toBe(true);
  });

  it('say how far a cluster is registered', async () => {
    await applyObjects(installation('join'), klusterletObjects('kiel', 'open-cluster-management-agent'));
    await expect
      .poll(() => reasons(KLUSTERLET, KLUSTERLET_NAME))
      .toEqual({
        Applied: 'True KlusterletApplied',
        Available: 'False ClusterNotFound',
        HubConnectionDegraded: 'True ClusterNotFound',
      });
    await hub.api.create(MANAGED_CLUSTER, {
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name: 'kiel' },
      spec: { hubAcceptsClient: true },
    });
    const { accepted, joined, available } = CLUSTER_CONDITIONS;
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const conditions = [accepted, joined, available].map((one) => ({ ...one, lastTransitionTime }));
    const key = { namespace: '', name: 'kiel' };
    await hub.api.mergePatch(MANAGED_CLUSTER, key, { status: { conditions } }, { subresource: 'status' });
    await expect
      .poll(() => reasons(KLUSTERLET, KLUSTERLET_NAME))
      .toMatchObject({
        Available: 'True KlusterletAvailable',
        HubConnectionDegraded: 'False HubConnectionFunctional',
      });
  });

  it('go with their definitions', async () => {
    expect(await deleteObjects(installation('init'), clusterManagerObjects())).toBe(2);
    const definition = { namespace: '', name: 'clustermanagers.operator.open-cluster-management.io' };
    await expect.poll(() => hub.api.get(CUSTOM_RESOURCE_DEFINITION, definition)).toBeUndefined();
    await expect.poll(() => hasOcmOperator(hub.api)).toBe(false);
  });
});
