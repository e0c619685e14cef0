import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CUSTOM_RESOURCE_DEFINITION,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureConversions, removeWebhooks } from '../../src/controllers/admission/hub-webhooks.ts';
import {
  type RunningAdmission,
  startAdmissionWebhooks,
} from '../../src/controllers/admission/start-admission-webhooks.ts';
import {
  conversionBy,
  type WebhookAddress,
} from '../../src/core/registration/webhooks/webhook-configurations.ts';
import { printedRbac } from '../app/serve/restricted-controller.ts';
import { rbacPath } from '../fakes/rbac-rules.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { freePort } from './peers/free-port.ts';
import { startOcmConversion } from './peers/ocm-webhook.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';
import { withoutEmpty } from './registration/ocm-addon-manager.ts';

const GROUP = 'addon.open-cluster-management.io';
const ADC = { group: GROUP, resource: 'addondeploymentconfigs' };
const TEMPLATE = { group: GROUP, resource: 'addontemplates' };
const DUTIES = {
  applies: false,
  schedule: 'upstream',
  works: false,
  embedded: false,
  admission: {},
  secrets: [],
} as const;
const beta = (kind: KindInfo): KindInfo => ({ ...kind, version: 'v1beta1' });
const KINDS = [CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON];

/** In v1alpha1 and in v1beta1: an add-on and that of a cluster. */
const OBJECTS = {
  v1alpha1: [
    {
      supportedConfigs: [{ ...ADC, defaultConfig: { namespace: 'default', name: 'small' } }, { ...TEMPLATE }],
    },
    { installNamespace: 'agents', configs: [{ ...ADC, namespace: 'default', name: 'own' }] },
  ],
  v1beta1: [
    {
      defaultConfigs: [
        { ...ADC, namespace: 'default', name: 'small' },
        { ...TEMPLATE, name: '__reserved_no_default__' },
      ],
    },
    { configs: [{ ...ADC, namespace: 'default', name: 'own' }] },
  ],
} as const;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))(
  'Berth converts add-ons for a real kube-apiserver',
  () => {
    let hub: RealHub;
    let controller: HttpKubeApi;
    let berth: RunningAdmission;
    let address: WebhookAddress;
    let port: number;
    const start = (): RunningAdmission =>
      startAdmissionWebhooks({
        ...{ hub: controller, host: '127.0.0.1', port, address, namespace: 'berth-system' },
        ...{ clock: systemClock, random: Math.random, log: new SilentLogger(), mayWrite: () => true },
      });
    const create = async (version: 'v1alpha1' | 'v1beta1', name: string): Promise<void> => {
      for (const [at, spec] of OBJECTS[version].entries()) {
        const kind = { ...(KINDS[at] ?? CLUSTER_MANAGEMENT_ADDON), version };
        const isAlpha = version === 'v1alpha1';
        const annotations = { [`${GROUP}/v1alpha1-install-namespace`]: 'agents' };
        await hub.api.create(kind, {
          ...{ apiVersion: `${GROUP}/${version}`, kind: kind.kind, spec },
          metadata: {
            ...{ name, ...(kind.namespaced && { namespace: 'default' }) },
            ...(!isAlpha && kind.namespaced && { annotations }),
          },
        });
      }
    };
    const read = async (kind: KindInfo, name: string) => {
      const namespace = kind.namespaced ? 'default' : '';
      return (await hub.api.get(kind, { namespace, name })) as KubeObject & { spec: object };
    };
    /** All add-ons in both versions, without what OCM writes of typed objects although it says nothing. */
    const all = async (): Promise<unknown> => {
      const lists = await Promise.all([...KINDS, ...KINDS.map(beta)].map((kind) => hub.api.list(kind)));
      return withoutEmpty(lists.map(({ items }) => items));
    };
    const conversionOf = async (kind: KindInfo) => {
      const name = `${kind.plural}.${GROUP}`;
      const crd = await hub.api.get(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name });
      return (
        crd?.['spec'] as {
          conversion: { strategy: string; webhook?: { clientConfig: { url?: string } } };
        }
      ).conversion;
    };
    const patchCrds = async (patchOf: (crd: KubeObject) => object): Promise<void> => {
      for (const { plural } of KINDS) {
        const key = { namespace: '', name: `${plural}.${GROUP}` };
        const crd = await hub.api.get(CUSTOM_RESOURCE_DEFINITION, key);
        if (crd !== undefined) await hub.api.mergePatch(CUSTOM_RESOURCE_DEFINITION, key, patchOf(crd));
      }
    };
    const isConverted = async (kind: KindInfo, name: string): Promise<unknown> =>
      read(kind, name).then(
        ({ spec }) => spec,
        (error: unknown) => String(error),
      );

    beforeAll(async () => {
      hub = await RealHub.start();
      for (const object of printedRbac(DUTIES)) await hub.call('POST', rbacPath(object), object);
      port = await freePort();
      address = { kind: 'url', url: `https://127.0.0.1:${port}` };
      const user = 'system:serviceaccount:berth-system:berth';
      const impersonate = { user, groups: ['system:serviceaccounts', 'system:authenticated'] };
      const config = loadKubeConfig({ file: hub.plane.kubeconfig });
      controller = new HttpKubeApi({ config, clock: systemClock, impersonate });
    });
    afterAll(async () => {
      await berth?.close();
      controller?.close();
      await hub?.close();
    });

    it('loses nothing between berth init, which names its Service, and the first answer', async () => {
      const service = {
        kind: 'service',
        namespace: 'berth-system',
        name: 'berth-admission',
        port: 443,
      } as const;
      await patchCrds(() => ({ spec: { conversion: conversionBy(service) } }));
      await create('v1alpha1', 'early');
      const refused = () => create('v1beta1', 'refused').then(String, String);
      await expect.poll(refused).toMatch(/conversion webhook .* failed: .*"berth-admission"/);
      berth = start();
    });

    it('reads in one version what was written in the other, whichever is stored', async () => {
      for (const kind of KINDS)
        await expect.poll(async () => (await conversionOf(kind)).webhook?.clientConfig.url).toBeDefined();
      await create('v1alpha1', 'a');
      // The server takes up changed definitions in the background.
      for (const [at, kind] of KINDS.entries())
        await expect
          .poll(() => isConverted(beta(kind), 'a'))
          .toEqual({
            ...OBJECTS.v1beta1[at],
            ...(at === 0 && { installStrategy: { type: 'Manual' }, addOnMeta: undefined }),
          });
      await create('v1beta1', 'b');
      for (const stored of ['v1beta1', 'v1alpha1']) {
        await patchCrds(({ spec }: KubeObject & { spec?: unknown }) => {
          const { versions } = spec as { versions: readonly { readonly name: string }[] };
          return { spec: { versions: versions.map((one) => ({ ...one, storage: one.name === stored })) } };
        });
        const [made, other] = [`alpha-in-${stored}`, `beta-in-${stored}`];
        await create('v1alpha1', made);
        await create('v1beta1', other);
        for (const name of ['a', 'b', made, other]) {
          const addOn = await read(CLUSTER_MANAGEMENT_ADDON, name);
          expect(addOn.spec).toMatchObject(OBJECTS.v1alpha1[0]);
          expect((await read(beta(CLUSTER_MANAGEMENT_ADDON), name)).spec).toMatchObject(OBJECTS.v1beta1[0]);
          const onCluster = await read(MANAGED_CLUSTER_ADDON, name);
          expect(onCluster.spec).toEqual(OBJECTS.v1alpha1[1]);
          expect((await read(beta(MANAGED_CLUSTER_ADDON), name)).spec).toEqual(OBJECTS.v1beta1[1]);
        }
      }
    });

    it('a status that is written in one version is read in the other', async () => {
      const kubeClient = {
        type: 'kubeClient',
        kubeClient: { driver: 'csr', subject: { user: 'u', groups: ['g'] } },
      };
      const key = { namespace: 'default', name: 'b' };
      const status = { status: { registrations: [kubeClient] } };
      await hub.api.mergePatch(beta(MANAGED_CLUSTER_ADDON), key, status, { subresource: 'status' });
      expect((await read(MANAGED_CLUSTER_ADDON, 'b'))['status']).toMatchObject({
        kubeClientDriver: 'csr',
        registrations: [
          { signerName: 'kubernetes.io/kube-apiserver-client', subject: { user: 'u', groups: ['g'] } },
        ],
      });
    });

    it('refuses what cannot be converted, with a sentence', async () => {
      const key = { namespace: 'default', name: 'a' };
      const status = { status: { registrations: [{ type: 'kubeClient' }] } };
      const written = hub.api.mergePatch(beta(MANAGED_CLUSTER_ADDON), key, status, { subresource: 'status' });
      await expect(written).rejects.toThrow(/nil KubeClient/);
    });

    it('says when the hub does not reach it, and what needs no conversion goes on', async () => {
      expect(berth.warnings()).toEqual([]);
      await berth.close();
      const away = await freePort();
      address = { kind: 'url', url: `https://127.0.0.1:${away}` };
      berth = start();
      await expect
        .poll(() => berth.warnings().join())
        .toMatch(
          /conversion webhook for addon\.open-cluster-management\.io\/.* failed: .*connection refused/,
        );
      await create('v1alpha1', 'while-away');
      await expect(create('v1beta1', 'refused')).rejects.toThrow(/conversion webhook .* connection refused/);
      await berth.close();
      address = { kind: 'url', url: `https://127.0.0.1:${port}` };
      berth = start();
      await expect
        .poll(() => Promise.all(KINDS.map((kind) => isConverted(beta(kind), 'while-away'))))
        .not.toContainEqual(expect.any(String));
      await create('v1beta1', 'later');
    });

    it.skipIf(!hasPeers('ocm/addon'))('answers as OCM’s webhook does, and leaves it alone', async () => {
      const ours = await all();
      // The API server notices a new address late: what answers now is not Berth.
      await berth.close();
      const stopTheirs = await startOcmConversion(hub.plane);
      try {
        await expect.poll(() => all().catch(String)).toEqual(ours);
        const theirs = await conversionOf(MANAGED_CLUSTER_ADDON);
        berth = start();
        await expect.poll(() => berth.warnings().join()).toMatch(/another program says in spec\.conversion/);
        expect(await conversionOf(MANAGED_CLUSTER_ADDON)).toEqual(theirs);
      } finally {
        await stopTheirs();
      }
    });

    it('leaves definitions of OCM’s operator alone, and takes back its own only', async () => {
      await patchCrds(() => ({ spec: { conversion: { strategy: 'None', webhook: null } } }));
      await expect.poll(async () => (await conversionOf(MANAGED_CLUSTER_ADDON)).strategy).toBe('Webhook');
      await berth.close();
      expect(await removeWebhooks(hub.api, { kind: 'url', url: 'https://127.0.0.1:1' })).toBe(0);
      expect(await removeWebhooks(hub.api, address)).toBe(4);
      expect((await conversionOf(MANAGED_CLUSTER_ADDON)).strategy).toBe('None');
      const operator = 'operator.open-cluster-management.io';
      await hub.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
        metadata: { name: `clustermanagers.${operator}` },
        spec: {
          ...{ group: operator, scope: 'Cluster' },
          names: { plural: 'clustermanagers', singular: 'clustermanager', kind: 'ClusterManager' },
          versions: [
            { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
          ],
        },
      });
      await expect.poll(() => hub.api.resolve(`${operator}/v1`, 'ClusterManager')).toBeDefined();
      expect(await ensureConversions(hub.api, address, 'PEM')).toEqual([]);
      expect((await conversionOf(MANAGED_CLUSTER_ADDON)).strategy).toBe('None');
    });
  },
);
