import { apiVersionOf, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { startHookServer } from '../../../fakes/hook-server.ts';

/** A hub that a plan and a controller use. */
export interface AnsweringHub {
  readonly api: KubeApi;
  readonly kubeconfig: string;
  /** A folder of the controller. */
  readonly dataDir: string;
  /** Resolves when the hub follows a new policy. */
  readonly settled: () => Promise<void>;
  /** Calls it when the scenario has ended. */
  readonly atEnd: (close: () => Promise<void>) => void;
}

const CLUSTER = 'cluster.open-cluster-management.io';
const POLICY: KindInfo = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  namespaced: false,
};
const POLICY_BINDING: KindInfo = {
  ...POLICY,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
};

/** A policy for placements. */
export async function forbid(
  { api, settled }: AnsweringHub,
  name: string,
  operation: string,
  expression: string,
) {
  const rule = {
    apiGroups: [CLUSTER],
    apiVersions: ['*'],
    operations: [operation],
    resources: ['placements'],
  };
  await api.create(POLICY, {
    apiVersion: apiVersionOf(POLICY),
    kind: POLICY.kind,
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression, message: `not with ${name}` }],
    },
  });
  await api.create(POLICY_BINDING, {
    apiVersion: apiVersionOf(POLICY),
    kind: POLICY_BINDING.kind,
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  await settled();
}

/** A webhook for one resource of clusters and placements. */
export async function hook(
  { api, settled, atEnd }: AnsweringHub,
  kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration',
  rule: { readonly resource: string; readonly operations: readonly string[] },
  answer: (object: KubeObject) => object,
): Promise<void> {
  const server = await startHookServer();
  atEnd(() => server.close());
  server.answers(({ apiVersion, kind: review, request }) => {
    const response = {
      uid: request.uid as string,
      ...answer((request.object ?? request.oldObject) as KubeObject),
    };
    return { review: { apiVersion, kind: review, response } };
  });
  await api.create(
    { ...POLICY, kind, plural: `${kind.toLowerCase()}s` },
    {
      ...{ apiVersion: apiVersionOf(POLICY), kind, metadata: { name: 'hooks' } },
      webhooks: [
        {
          name: 'one.hooks.example.com',
          clientConfig: { url: `${server.url}/x`, caBundle: server.caBundle },
          ...{ admissionReviewVersions: ['v1'], sideEffects: 'None' },
          rules: [
            {
              ...{ apiGroups: [CLUSTER], apiVersions: ['*'] },
              ...{ operations: rule.operations, resources: [rule.resource] },
            },
          ],
        },
      ],
    },
  );
  await settled();
}

/** The answer of a webhook: no placement gets more than two clusters. */
export function capped({ spec }: KubeObject): object {
  const { numberOfClusters = 0 } = spec as { readonly numberOfClusters?: number };
  if (numberOfClusters <= 2) return { allowed: true };
  const patch = [{ op: 'replace', path: '/spec/numberOfClusters', value: 2 }];
  return {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
}

/** Another manager owns a field from then on. */
export async function takeField({ api }: AnsweringHub, manager: string, kind: KindInfo, object: object) {
  const applied = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as KubeObject;
  await api.apply(kind, applied, { fieldManager: manager, force: true });
}
