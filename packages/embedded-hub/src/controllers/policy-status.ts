import { numberAt, objectAt } from '../json/json-value.ts';
import { POLICY_STORAGE } from '../policies/policy-set.ts';
import type { Cluster } from '../request/cluster.ts';
import { metadataOf } from '../request/cluster.ts';
import { ObjectController } from './object-controller.ts';

const POLICIES = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingadmissionpolicies',
};

/**
 * Sets `observedGeneration` of a policy, which tells that it is enforced. Types are not checked
 * against schemas. Source: kubernetes
 * `pkg/controller/validatingadmissionpolicystatus/controller.go`.
 */
export class PolicyStatus extends ObjectController {
  constructor(cluster: Cluster) {
    const user = 'validatingadmissionpolicy-status-controller';
    super(cluster, { name: 'policies', user, storage: POLICY_STORAGE });
  }

  protected async reconcile(name: string): Promise<void> {
    const ref = this.client.ref(POLICIES);
    const policy = ref === undefined ? undefined : this.client.get(ref, { namespace: '', name });
    if (ref === undefined || policy === undefined) return;
    const generation = numberAt(metadataOf(policy), 'generation') ?? 0;
    if (generation <= (numberAt(objectAt(policy, 'status'), 'observedGeneration') ?? 0)) return;
    const patch = { status: { observedGeneration: generation } };
    await this.client.mergePatch(ref, { namespace: '', name }, patch, 'status');
  }
}
