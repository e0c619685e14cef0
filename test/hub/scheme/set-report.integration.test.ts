import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLICATION_SET_REPORT } from '../../../src/core/argocd/argocd-kinds.ts';
import { renderSetReport } from '../../../src/core/argocd/pull/render-set-report.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { CUSTOM_RESOURCE_DEFINITION, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';

const PREFIX = 'apps.open-cluster-management.io';
const REPORTED = {
  healthStatus: 'Degraded',
  syncStatus: 'OutOfSync',
  syncRevision: '4773b9f',
  operationStatePhase: 'Failed',
  operationStateStartedAt: '2026-08-01T10:00:00Z',
  conditionSyncError: 'no such path',
};
const work: ManifestWork = {
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: {
    name: 'shop-east-12345',
    namespace: 'east',
    labels: { [`${PREFIX}/pull-to-ocm-managed-cluster`]: 'true' },
    annotations: {
      [`${PREFIX}/hub-application-namespace`]: 'argocd',
      [`${PREFIX}/hub-application-name`]: 'shop-east',
    },
  },
  spec: { workload: { manifests: [] } },
  status: {
    resourceStatus: {
      manifests: [
        {
          resourceMeta: { ordinal: 0 },
          conditions: [],
          statusFeedback: {
            values: Object.entries(REPORTED).map(([name, string]) => ({
              name,
              fieldValue: { type: 'String', string },
            })),
          },
        },
      ],
    },
  },
};

describe.each([
  ['the kind that the embedded hub has', false],
  ['the definition that berth argocd install writes', true],
])('MulticlusterApplicationSetReport: %s', (_, isDefined) => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
  });
  afterAll(() => hub.close());

  it.runIf(isDefined)('is accepted', async () => {
    const [, crd] = ocmCrds([PREFIX]);
    const { metadata } = await hub.api.create(CUSTOM_RESOURCE_DEFINITION, crd as unknown as KubeObject);
    const conditions = async (): Promise<string> => {
      const found = await hub.api.get(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name: metadata.name });
      return JSON.stringify(found?.['status'] ?? '');
    };
    await expect.poll(conditions).toContain('"Established"');
  });

  it('keeps every field of a report that Berth writes', async () => {
    const report = renderSetReport('argocd/shop', [work]);
    await hub.api.apply(APPLICATION_SET_REPORT, report, { fieldManager: 'test' });
    const found = await hub.api.get(APPLICATION_SET_REPORT, { namespace: 'argocd', name: 'shop' });
    expect(found?.['statuses']).toEqual(report['statuses']);
    expect(found?.['statuses']).toMatchObject({
      clusterConditions: [{ cluster: 'east', syncRevision: '4773b9f', operationStatePhase: 'Failed' }],
      summary: { synced: '0', notSynced: '1', clusters: '1' },
    });
  });

  it('refuses a number where the kind has text', async () => {
    const report = { ...renderSetReport('argocd/bad', [work]), statuses: { summary: { synced: 1 } } };
    await expect(hub.api.apply(APPLICATION_SET_REPORT, report, { fieldManager: 'test' })).rejects.toThrow(
      /synced/,
    );
  });
});
