import { numberAt, objectAt } from '../json/json-value.ts';
import { POLICY_STORAGE } from '../policies/policy-set.ts';
import type { Cluster } from '../request/cluster.ts';
import { metadataOf } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import type { ReconcileLoop } from '../../runtime/reconcile-loop.ts';
import { controllerLoop } from './controller-loop.ts';
import type { HubController } from './hub-controller.ts';

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
export class PolicyStatus implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'validatingadmissionpolicy-status-controller');
    this.#loop = controllerLoop('policies', (name) => this.#note(name), cluster);
  }

  start(): void {
    this.#unsubscribe = this.#client.watch(POLICY_STORAGE, (events) => {
      for (const { entry } of events) this.#loop.add(entry.name);
    });
    for (const { name } of this.#cluster.store.list(POLICY_STORAGE)) this.#loop.add(name);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  async #note(name: string): Promise<void> {
    const ref = this.#client.ref(POLICIES);
    const policy = ref === undefined ? undefined : this.#client.get(ref, { namespace: '', name });
    if (ref === undefined || policy === undefined) return;
    const generation = numberAt(metadataOf(policy), 'generation') ?? 0;
    if (generation <= (numberAt(objectAt(policy, 'status'), 'observedGeneration') ?? 0)) return;
    const patch = { status: { observedGeneration: generation } };
    await this.#client.mergePatch(ref, { namespace: '', name }, patch, 'status');
  }
}
