import { type AddOnDefinition, bindRole, createAddOnManager } from '@berth/addon';
import { configSpecHash } from '@berth/addon/rules/config-hash';
import {
  ADDON_DEPLOYMENT_CONFIG,
  apiVersionOf,
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  ROLE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { expect, it } from 'vitest';
import {
  condition,
  configMap,
  hookJob,
} from '../../../packages/addon/test/rules/deployment/deployment-harness.ts';
import { freshKey, plainSubject, requestPem } from '../../security/certificate-requests.ts';

const GROUP = 'addon.open-cluster-management.io';
const RBAC = 'rbac.authorization.k8s.io';
const OWN = 'system:open-cluster-management:cluster:c1:addon:hello';
const ADDON = { namespace: 'c1', name: 'hello' };
const MANAGED = { namespace: '', name: 'hello' };
const CONFIG = { namespace: 'default', name: 'size' };
const CONFIGS = { group: GROUP, resource: 'addondeploymentconfigs' };
const STATUS = { subresource: 'status' } as const;
const SIGNERS = ['kubernetes.io/kube-apiserver-client', 'example.com/hello'];
const PEM = requestPem({
  subject: plainSubject(`${OWN}:agent:hello-agent`, OWN, 'system:open-cluster-management:addon:hello'),
  privateKey: freshKey(),
});

/** With each kind of objects that a manager writes. */
const HELLO: AddOnDefinition = {
  name: 'hello',
  health: 'works',
  supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
  manifests: async ({ values }) => [configMap('size', {}, values['SIZE'] ?? ''), hookJob('bye')],
  registration: {
    configurations: [{ type: 'KubeClient' }, { type: 'CustomSigner', signerName: SIGNERS[1] ?? '' }],
    permissions: async (context) => {
      const name = `hello-c1-${context.values['SIZE']}`;
      const object = (kind: string, content: object): KubeObject => ({
        ...{ apiVersion: `${RBAC}/v1`, kind, metadata: { name }, ...content },
      });
      const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }];
      const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
      return [
        ...bindRole(context, rules),
        object('ClusterRole', { rules }),
        object('ClusterRoleBinding', { roleRef, subjects: context.subjects() }),
      ];
    },
    sign: async () => 'certificate',
  },
};

/** A hub with an add-on written in code, and its manager. The test is the agent, and rolls out configurations. */
class Hub {
  readonly api = new FakeKubeApi();
  readonly #clock = new FakeClock();
  #stop = new AbortController();

  async setUp(): Promise<this> {
    const kinds = [ADDON_DEPLOYMENT_CONFIG, CERTIFICATE_REQUEST, CLUSTER_MANAGEMENT_ADDON];
    for (const kind of [...kinds, ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING])
      this.api.addKind(kind);
    await this.make(MANAGED_CLUSTER, { metadata: { name: 'c1' }, spec: { hubAcceptsClient: true } });
    await this.make(ADDON_DEPLOYMENT_CONFIG, { metadata: CONFIG, spec: {} });
    const supportedConfigs = [{ ...CONFIGS, defaultConfig: CONFIG }];
    await this.make(CLUSTER_MANAGEMENT_ADDON, { metadata: { name: 'hello' }, spec: { supportedConfigs } });
    const references = [{ ...CONFIGS, desiredConfig: { ...CONFIG, specHash: '' } }];
    await this.api.mergePatch(
      CLUSTER_MANAGEMENT_ADDON,
      MANAGED,
      { status: { defaultconfigReferences: references } },
      STATUS,
    );
    return this;
  }

  start(through: KubeApi = this.api): void {
    this.#stop = new AbortController();
    const options = { hub: through, addOns: [HELLO], clock: this.#clock, random: () => 0.5 };
    void createAddOnManager(options).run(this.#stop.signal);
  }

  /** A dead process closes nothing: its calls never return. Only its timers must not go on in this one. */
  stop(): void {
    this.#stop.abort();
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 5; round += 1) await this.#clock.advance(12_000);
  }

  make(kind: KindInfo, object: object): Promise<KubeObject> {
    const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
    return this.api.create(kind, typed as unknown as KubeObject);
  }

  async roll(value: string): Promise<void> {
    const spec = { customizedVariables: [{ name: 'SIZE', value }] };
    const config = await this.api.mergePatch(ADDON_DEPLOYMENT_CONFIG, CONFIG, { spec });
    const desiredConfig = { ...CONFIG, specHash: configSpecHash(config) };
    const configReferences = [{ ...CONFIGS, ...CONFIG, lastObservedGeneration: 1, desiredConfig }];
    await this.api.mergePatch(MANAGED_CLUSTER_ADDON, ADDON, { status: { configReferences } }, STATUS);
    await this.settle();
  }

  /** What the cluster's agent does with certificates. */
  async ask(): Promise<void> {
    const labels = { [`${CLUSTER}/cluster-name`]: 'c1', [`${CLUSTER}/addon-name`]: 'hello' };
    const username = 'system:open-cluster-management:c1:agent1';
    const request = Buffer.from(PEM).toString('base64');
    for (const [at, signerName] of SIGNERS.entries())
      await this.make(CERTIFICATE_REQUEST, {
        metadata: { name: `addon-c1-hello-${at}`, labels },
        spec: { signerName, username, request },
      });
    await this.settle();
  }

  /** The agent applied everything, and every Job has run. */
  async report(): Promise<void> {
    for (const { metadata, spec } of this.works()) {
      const conditions = [condition('Applied', 'True'), condition('Available', 'True')];
      const done = { name: 'JobComplete', fieldValue: { type: 'String', string: 'True' } };
      const manifests = (spec?.workload?.manifests ?? []).map(
        ({ kind, metadata: { name, namespace } }, ordinal) => ({
          resourceMeta: { ordinal, kind, name, namespace },
          statusFeedback: { values: [done] },
        }),
      );
      const key = { namespace: metadata.namespace ?? '', name: metadata.name };
      const status = { conditions, resourceStatus: { manifests } };
      await this.api.mergePatch(MANIFEST_WORK, key, { status }, STATUS);
    }
    await this.settle();
  }

  works(): readonly ManifestWork[] {
    return this.api.peek(MANIFEST_WORK) as unknown as readonly ManifestWork[];
  }

  /** What is to be one and the same in the end. */
  state(): object {
    const addon = this.api.peek(MANAGED_CLUSTER_ADDON)[0];
    const rights = [ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING].flatMap((kind) =>
      this.api.peek(kind).map(({ metadata }) => `${kind.kind} ${metadata.name}`),
    );
    const managed = this.api.peek(CLUSTER_MANAGEMENT_ADDON)[0]?.['status'] as {
      readonly defaultconfigReferences: readonly { readonly desiredConfig: { readonly specHash: string } }[];
    };
    return {
      owners: addon?.metadata.ownerReferences?.map(({ kind, name }: OwnerReference) => `${kind} ${name}`),
      supported: (addon?.['status'] as { readonly supportedConfigs?: unknown }).supportedConfigs,
      hash: managed.defaultconfigReferences[0]?.desiredConfig.specHash,
      works: this.works().flatMap(({ spec }) =>
        (spec?.workload?.manifests ?? []).map((manifest) => JSON.stringify(manifest['data'])),
      ),
      rights: rights.sort(),
    };
  }

  /** Of each certificate request: its decisions, and whether it has a certificate. */
  decisions(): readonly string[] {
    return this.api.peek(CERTIFICATE_REQUEST).map(({ status }) => {
      const { conditions = [], certificate } = (status ?? {}) as {
        readonly conditions?: readonly { readonly type: string }[];
        readonly certificate?: string;
      };
      return [...conditions.map(({ type }) => type), ...(certificate === undefined ? [] : ['signed'])].join(
        ' ',
      );
    });
  }
}

const CLUSTER = 'open-cluster-management.io';
const HASH = configSpecHash({
  ...{
    apiVersion: apiVersionOf(ADDON_DEPLOYMENT_CONFIG),
    kind: ADDON_DEPLOYMENT_CONFIG.kind,
    metadata: CONFIG,
  },
  spec: { customizedVariables: [{ name: 'SIZE', value: 'large' }] },
});
const UPGRADED = {
  owners: ['ClusterManagementAddOn hello'],
  supported: [CONFIGS],
  hash: HASH,
  works: ['{"value":"large"}'],
  rights: [
    'ClusterRole hello-c1-large',
    'ClusterRoleBinding hello-c1-large',
    'Role open-cluster-management:hello:agent',
    'RoleBinding open-cluster-management:hello:agent',
  ],
};

it.each([true, false])(
  'the manager of an add-on written in code continues after its death at any write (the last one done: %s)',
  async (lastIsDone) => {
    let lived = false;
    for (let writes = 1; !lived; writes += 1) {
      const hub = await new Hub().setUp();
      const life = { dead: false, writesLeft: writes, lastIsDone };
      hub.start(new MortalKubeApi(hub.api, life));
      await hub.make(MANAGED_CLUSTER_ADDON, { metadata: ADDON, spec: {} });
      await hub.roll('small');
      await hub.ask();
      await hub.report();
      await hub.roll('large');
      await hub.report();
      const isRemoved = writes > 16;
      if (isRemoved) {
        await hub.api.delete(MANAGED_CLUSTER_ADDON, ADDON);
        await hub.settle();
        await hub.report();
      }
      lived = !life.dead;
      hub.stop();

      hub.start();
      await hub.settle();
      if (!isRemoved) {
        await hub.report();
        expect(hub.state()).toEqual(UPGRADED);
        await hub.api.delete(MANAGED_CLUSTER_ADDON, ADDON);
      }
      for (let round = 0; round < 3; round += 1) await hub.report();
      expect(hub.api.peek(MANAGED_CLUSTER_ADDON)).toEqual([]);
      expect([CLUSTER_ROLE, CLUSTER_ROLE_BINDING].flatMap((kind) => hub.api.peek(kind))).toEqual([]);
      expect(hub.decisions()).toEqual(['Approved', 'Approved signed']);
      hub.stop();
      if (lived) expect(writes).toBeGreaterThan(20);
      expect(writes).toBeLessThan(60);
    }
  },
);
