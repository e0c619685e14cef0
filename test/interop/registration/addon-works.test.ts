import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveController } from '../../../src/app/serve/serve-controller.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { HUB_NAMESPACE, managedAddon } from './addon-objects.ts';
import { startOcmManager, workContent } from './ocm-addon-manager.ts';

const GROUP = 'addon.open-cluster-management.io';
const CLUSTER = 'edge-1';
const ADDON = { namespace: CLUSTER, name: 'hello' };
const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 250 };

function workload(kind: 'Deployment' | 'DaemonSet', name: string): object {
  const labels = { app: name };
  const containers = [
    { name: 'agent', image: 'example.com/agent:1', args: ['--cluster={{CLUSTER_NAME}}', '{{LEVEL}}'] },
  ];
  const template = { metadata: { labels }, spec: { containers } };
  return {
    ...{ apiVersion: 'apps/v1', kind, metadata: { name, namespace: 'default' } },
    spec: { selector: { matchLabels: labels }, template },
  };
}

function configMap(name: string, annotations: Record<string, string>, kib: number): object {
  const metadata = { name, namespace: 'default', annotations };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(kib * 1024) } };
}

/** Workloads, a hook, a marked manifest, and more than one work can hold. */
const MANIFESTS = [
  workload('Deployment', 'agent'),
  configMap('large', {}, 300),
  configMap('kept', { [`${GROUP}/deletion-orphan`]: '' }, 200),
  workload('DaemonSet', 'node-agent'),
  {
    ...{ apiVersion: 'batch/v1', kind: 'Job' },
    metadata: { name: 'clean', namespace: 'default', annotations: { [`${GROUP}/addon-pre-delete`]: '' } },
    spec: {
      template: {
        spec: { containers: [{ name: 'clean', image: 'example.com/clean:1' }], restartPolicy: 'Never' },
      },
    },
  },
];

const OBJECTS: readonly (readonly [KindInfo, object])[] = [
  [NAMESPACE, { metadata: { name: HUB_NAMESPACE } }],
  [NAMESPACE, { metadata: { name: CLUSTER } }],
  [MANAGED_CLUSTER, { metadata: { name: CLUSTER }, spec: { hubAcceptsClient: true } }],
  [
    ADDON_DEPLOYMENT_CONFIG,
    {
      metadata: { name: 'small', namespace: HUB_NAMESPACE },
      spec: {
        customizedVariables: [{ name: 'LEVEL', value: 'info' }],
        agentInstallNamespace: 'hello-system',
      },
    },
  ],
  [
    ADDON_TEMPLATE,
    {
      metadata: { name: 'hello-1' },
      spec: {
        addonName: 'hello',
        agentSpec: {
          workload: { manifests: MANIFESTS },
          manifestConfigs: [
            {
              resourceIdentifier: {
                group: 'apps',
                resource: 'deployments',
                name: 'agent',
                namespace: 'hello-system',
              },
              feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'image', path: '.spec.replicas' }] }],
            },
          ],
        },
      },
    },
  ],
  [
    CLUSTER_MANAGEMENT_ADDON,
    {
      metadata: { name: 'hello' },
      spec: {
        supportedConfigs: [
          { group: GROUP, resource: 'addontemplates', defaultConfig: { name: 'hello-1' } },
          {
            group: GROUP,
            resource: 'addondeploymentconfigs',
            defaultConfig: { name: 'small', namespace: HUB_NAMESPACE },
          },
        ],
      },
    },
  ],
  [MANAGED_CLUSTER_ADDON, managedAddon(CLUSTER, 'hello')],
];

describe.skipIf(!hasPeers('ocm/addon'))('the works of an add-on of a template', () => {
  it('are the same from OCM’s add-on manager and from ours, which takes them over', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-addon-works-'));
    const hub = await startEmbeddedHub();
    const { api } = hub;
    const manager = await startOcmManager(hub.kubeconfig, dir);
    onTestFinished(async () => {
      await manager.stop();
      await hub.close();
      rmSync(dir, { recursive: true, force: true });
    });
    for (const [kind, object] of OBJECTS)
      await api.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as KubeObject);
    const works = async () => {
      const { items } = await api.list(MANIFEST_WORK, { namespace: CLUSTER });
      return (items as unknown as readonly ManifestWork[]).map(workContent);
    };
    const addon = async () => (await api.get(MANAGED_CLUSTER_ADDON, ADDON)) ?? expect.fail('no add-on');
    await expect.poll(works, PATIENT).toHaveLength(2);
    const finalizers = async () => (await addon()).metadata.finalizers;
    await expect.poll(finalizers, PATIENT).toEqual([`${GROUP}/addon-pre-delete`]);
    const status = async () => ((await addon())['status'] ?? {}) as Record<string, unknown>;
    // The status comes in the next pass.
    await expect.poll(status, PATIENT).toMatchObject({ healthCheck: {}, namespace: expect.any(String) });
    await manager.stop();
    const [byOcm, statusByOcm] = [await works(), await status()];

    let controller = await startOurs(api, dir);
    onTestFinished(() => controller.close());
    // OCM writes the status of a DaemonSet that it has read into a typed object.
    const asWritten = async () =>
      JSON.stringify((await api.list(MANIFEST_WORK, { namespace: CLUSTER })).items);
    await expect.poll(asWritten, PATIENT).not.toContain('numberReady');
    expect(await works()).toEqual(byOcm);
    // Made from nothing, they are spread as OCM spreads them.
    await controller.close();
    for (const { metadata } of (await api.list(MANIFEST_WORK, { namespace: CLUSTER })).items)
      await api.delete(MANIFEST_WORK, { namespace: CLUSTER, name: metadata.name });
    controller = await startOurs(api, dir);
    await expect.poll(works, PATIENT).toHaveLength(2);
    expect(await works()).toEqual(byOcm);
    const { healthCheck, namespace } = statusByOcm;
    await expect.poll(status, PATIENT).toMatchObject({ healthCheck, namespace });

    await api.delete(MANAGED_CLUSTER_ADDON, ADDON);
    const names = async () => (await works()).map((work) => (work as { name: string }).name);
    await expect.poll(names, PATIENT).toContain('addon-hello-pre-delete');
  });
});

async function startOurs(api: Awaited<ReturnType<typeof startEmbeddedHub>>['api'], dataDir: string) {
  return serveController({
    ...{ api, dataDir, sources: [], engineVersion: 'test', env: {} },
    ...{ clock: systemClock, random: Math.random, log: new SilentLogger() },
    schedule: 'upstream',
    addons: { duties: ['deployment'], clock: systemClock },
  });
}
