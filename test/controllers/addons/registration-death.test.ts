import { TemplateRegistration } from '@berth/addon/manager/template-source';
import {
  ADDON_TEMPLATE,
  apiVersionOf,
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  ROLE,
  ROLE_BINDING,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { expect, it } from 'vitest';
import { AddOnCertificates } from '@berth/addon/manager/addon-certificates';
import { AddOnRegistration } from '@berth/addon/manager/addon-registration';
import { AddOnTokens } from '@berth/addon/manager/addon-tokens';
import type { AddOnOptions } from '@berth/addon/manager/addon-controller';
import type { HubController } from '@berth/kube/controller/cached-controller';
import { MortalManager } from './mortal-manager.ts';
import { freshKey, plainSubject, requestPem } from '../../security/certificate-requests.ts';
import { TemplateAddOn } from './template-addon.ts';

const CLIENT = 'kubernetes.io/kube-apiserver-client';
const RBAC = 'rbac.authorization.k8s.io';
const GROUP = 'system:open-cluster-management:cluster:c1:addon:hello';
const ACCOUNT = 'system:serviceaccount:c1:hello-agent';
const KINDS = [
  ADDON_TEMPLATE,
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  ROLE,
  ROLE_BINDING,
  SERVICE_ACCOUNT,
];
const PEM = requestPem({
  subject: plainSubject(`${GROUP}:agent:hello-agent`, GROUP, 'system:open-cluster-management:addon:hello'),
  privateKey: freshKey(),
});

const current = (clusterRoleName: string) => ({
  type: 'CurrentCluster',
  currentCluster: { clusterRoleName },
});
const shared = (name: string) => ({
  type: 'SingleNamespace',
  singleNamespace: { namespace: 'shared', roleRef: { apiGroup: RBAC, kind: 'Role', name } },
});
const registration = (...hubPermissions: readonly object[]) =>
  [{ type: 'KubeClient', kubeClient: { hubPermissions } }] as never;

/** A hub with an add-on of a template, and the controllers that register it. The test is the agent and the author of the template. */
class Hub extends MortalManager {
  readonly addon = new TemplateAddOn(this.api, 'hello');
  async setUp(): Promise<this> {
    for (const kind of KINDS) this.api.addKind(kind);
    await this.api.create(MANAGED_CLUSTER, {
      ...{ apiVersion: apiVersionOf(MANAGED_CLUSTER), kind: MANAGED_CLUSTER.kind },
      ...{ metadata: { name: 'c1' }, spec: { hubAcceptsClient: true } },
    });
    await this.addon.create(registration(current('reader'), shared('a')));
    return this;
  }

  protected override controllers(options: AddOnOptions): readonly HubController[] {
    return [
      new AddOnRegistration(options, new TemplateRegistration(options)),
      new AddOnCertificates(options, new TemplateRegistration(options)),
      new AddOnTokens(options),
    ];
  }

  /** What the cluster's agent does with certificates. */
  async ask(): Promise<void> {
    await this.api.create(CERTIFICATE_REQUEST, {
      ...{ apiVersion: apiVersionOf(CERTIFICATE_REQUEST), kind: CERTIFICATE_REQUEST.kind },
      metadata: {
        name: 'addon-c1-hello-x',
        labels: {
          'open-cluster-management.io/cluster-name': 'c1',
          'open-cluster-management.io/addon-name': 'hello',
        },
      },
      spec: {
        ...{ signerName: CLIENT, username: 'system:open-cluster-management:c1:agent1' },
        request: Buffer.from(PEM).toString('base64'),
      },
    });
  }

  async useTokens(): Promise<void> {
    const registrations = [{ signerName: CLIENT, subject: { user: ACCOUNT } }];
    await this.addon.setStatus('c1', { kubeClientDriver: 'token', registrations });
  }

  /** `NAMESPACE/NAME ROLE: SUBJECTS` of each binding, and the names of accounts. */
  rights(): readonly string[] {
    const text = (binding: KubeObject): string => {
      const { name } = binding['roleRef'] as { readonly name: string };
      const subjects = binding['subjects'] as readonly { readonly name: string }[];
      const at = `${binding.metadata.namespace}/${binding.metadata.name}`;
      return `${at} ${name}: ${subjects.map((subject) => subject.name).join(', ')}`;
    };
    const accounts = this.api.peek(SERVICE_ACCOUNT).map(({ metadata }) => metadata.name);
    return [...this.api.peek(ROLE_BINDING).map(text), ...accounts].sort();
  }

  decisions(): readonly string[] {
    return this.api.peek(CERTIFICATE_REQUEST).flatMap(({ status }) => {
      const { conditions = [] } = (status ?? {}) as {
        readonly conditions?: readonly { readonly type: string }[];
      };
      return conditions.map(({ type }) => type);
    });
  }
}

const WITH_TOKENS = [
  'c1/hello-token-role hello-token-role: system:open-cluster-management:c1, open-cluster-management:c1',
  `c1/open-cluster-management:hello:clusterrole:agent other: ${ACCOUNT}`,
  'hello-agent',
];

it.each([true, false])(
  'the manager of registrations continues after its death at any write (the last one done: %s)',
  async (lastIsDone) => {
    let lived = false;
    for (let writes = 1; !lived; writes += 1) {
      const hub = await new Hub().setUp();
      const life = { dead: false, writesLeft: writes, lastIsDone };
      hub.start(new MortalKubeApi(hub.api, life));
      await hub.addon.addTo('c1');
      await hub.settle();
      await hub.ask();
      await hub.settle();
      await hub.addon.change(registration(current('other')));
      await hub.settle();
      await hub.useTokens();
      await hub.settle();
      const isRemoved = writes > 12;
      if (isRemoved) {
        await hub.addon.removeFrom('c1');
        await hub.settle();
      }
      lived = !life.dead;
      hub.stop();

      hub.start();
      await hub.settle();
      if (!isRemoved) {
        expect(hub.rights()).toEqual(WITH_TOKENS);
        expect(await hub.addon.condition('c1')).toContain('True SetPermissionApplied');
        expect(await hub.addon.condition('c1', 'TokenInfrastructureReady')).toContain('True');
        await hub.addon.removeFrom('c1');
        await hub.settle();
      }
      expect(hub.rights()).toEqual([]);
      expect(hub.api.peek(ROLE)).toEqual([]);
      expect(hub.decisions()).toEqual(['Approved']);
      expect(hub.api.peek(MANAGED_CLUSTER_ADDON)).toEqual([]);
      hub.stop();
      if (lived) expect(writes).toBeGreaterThan(15);
      expect(writes).toBeLessThan(60);
    }
  },
);
