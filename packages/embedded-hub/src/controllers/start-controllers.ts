import type { ReconcileLoop } from '@berth/runtime/loop/reconciler';
import { hasToken, mentionsTokenSecret, isTokenSecret } from '../admission/legacy-tokens.ts';
import type { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { CLIENT_SIGNER, judgeClientRequest } from '../auth/certificates/client-signer.ts';
import type { ServiceAccountTokens } from '../auth/tokens/service-account-tokens.ts';
import type { ApiCluster } from '../cluster/api-cluster.ts';
import { KUBERNETES_SERVICE, SERVICES } from '../cluster/bootstrap-objects.ts';
import { numberAt, objectAt, textAt, type JsonObject, isObject, listAt } from '../json/json-value.ts';
import { POLICY_STORAGE } from '../policies/policy-set.ts';
import { type Cluster, metadataOf, timestamp } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import { controllerLoop, type HubController } from './controller-loop.ts';
import { CrdCleaner } from './crd-cleaner.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { NamespaceController } from './namespace-controller.ts';

export interface RunningControllers {
  stop(): Promise<void>;
}

/**
 * Starts the controllers of one cluster.
 * @param servingCaPem authority of the server's certificate
 * @param isApiServerOnly true: does not start the controllers that kube-controller-manager runs
 */
export function startControllers(
  cluster: ApiCluster,
  servingCaPem: string,
  isApiServerOnly: boolean,
): RunningControllers {
  const managerControllers = (): readonly HubController[] => [
    new NamespaceController(cluster, servingCaPem),
    new GarbageCollector(cluster),
    new PolicyStatus(cluster),
    new CertificateSigner(cluster, cluster.authorities.clients),
    ...(cluster.legacyTokenSecrets ? [new TokenSecrets(cluster, servingCaPem)] : []),
  ];
  const controllers: HubController[] = [
    ...(isApiServerOnly ? [] : managerControllers()),
    new KubernetesService(cluster),
    new CrdCleaner(cluster),
    new EventExpiry(cluster),
    new LogCompactor(cluster),
  ];
  for (const controller of controllers) controller.start();
  if (!cluster.legacyTokenSecrets) reportRefusedTokens(cluster);
  return {
    async stop() {
      for (const controller of controllers) await controller.stop();
    },
  };
}

/** Logs once at the start whose tokens are refused because the hub runs without legacy token Secrets. */
function reportRefusedTokens({ store, log }: ApiCluster): void {
  const secrets = store
    .list('secrets')
    .filter((entry) => mentionsTokenSecret(entry.json()) && hasToken(entry.object));
  if (secrets.length === 0) return;
  log.warn(
    'Secrets contain ServiceAccount tokens of ten years, which are refused; use kubectl create token, or start the hub with --legacy-token-secrets',
    {
      count: secrets.length,
      first: secrets.slice(0, 5).map(({ namespace, name }) => `${namespace}/${name}`),
    },
  );
}

/** A controller of the objects of one resource: reconciles each at the start, and after each change. */
abstract class ObjectController<C extends Cluster = Cluster> implements HubController {
  protected readonly cluster: C;
  protected readonly client: LocalClient;
  readonly #storage: string;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: C, { name, user, storage }: ObjectControllerOptions) {
    this.cluster = cluster;
    this.client = new LocalClient(cluster, user);
    this.#storage = storage;
    this.#loop = controllerLoop(name, (key) => this.reconcile(key), cluster);
  }

  start(): void {
    this.#unsubscribe = this.client.watch(this.#storage, (events) => {
      for (const { entry } of events) this.#loop.add(keyOf(entry));
    });
    for (const entry of this.cluster.store.list(this.#storage)) this.#loop.add(keyOf(entry));
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  /** @param key `NAME` of a cluster-scoped object, or `NAMESPACE/NAME` */
  protected abstract reconcile(key: string): Promise<void>;
}

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
class PolicyStatus extends ObjectController {
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

const CSRS = { group: 'certificates.k8s.io', version: 'v1', plural: 'certificatesigningrequests' };
const CSR_STORAGE = 'certificatesigningrequests.certificates.k8s.io';

/** Signs approved requests for client certificates. It does not approve requests. */
class CertificateSigner extends ObjectController {
  readonly #authority: CertificateAuthority;

  constructor(cluster: Cluster, authority: CertificateAuthority) {
    super(cluster, { name: 'certificates', user: 'certificate-signer', storage: CSR_STORAGE });
    this.#authority = authority;
  }

  protected async reconcile(name: string): Promise<void> {
    const ref = this.client.ref(CSRS);
    const csr = ref === undefined ? undefined : this.client.get(ref, { namespace: '', name });
    if (ref === undefined || csr === undefined || !isReady(csr)) return;
    const status = await this.#statusOf(csr);
    // The resourceVersion makes sure that a request that was denied meanwhile gets no certificate.
    const { uid, resourceVersion } = metadataOf(csr) as { uid: string; resourceVersion: string };
    const metadata = { uid, resourceVersion };
    await this.client.mergePatch(ref, { namespace: '', name }, { metadata, status }, 'status');
  }

  async #statusOf(csr: JsonObject): Promise<JsonObject> {
    const verdict = judgeClientRequest(objectAt(csr, 'spec'));
    if (verdict.kind === 'refuse') return this.#failed(csr, verdict.why);
    const pem = await this.#authority.signClientKey(verdict, this.cluster.clock.now());
    return { certificate: Buffer.from(pem).toString('base64') };
  }

  #failed(csr: JsonObject, message: string): JsonObject {
    const now = timestamp(this.cluster.clock);
    const condition = {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    return { conditions: [...listAt(objectAt(csr, 'status'), 'conditions'), condition] };
  }
}

function isReady(csr: JsonObject): boolean {
  const status = objectAt(csr, 'status');
  const has = (type: string): boolean =>
    listAt(status, 'conditions').some((condition) => isObject(condition) && condition['type'] === type);
  const ours = textAt(objectAt(csr, 'spec'), 'signerName') === CLIENT_SIGNER;
  return ours && textAt(status, 'certificate') === '' && has('Approved') && !has('Denied') && !has('Failed');
}

const SECRETS = { group: '', version: 'v1', plural: 'secrets' };
const ACCOUNTS = { group: '', version: 'v1', plural: 'serviceaccounts' };
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const TEN_YEARS_SECONDS = 3650 * 86_400;

/**
 * Fills Secrets of type service-account-token, for clients that do not use TokenRequest. Runs with
 * `legacyTokenSecrets`.
 */
class TokenSecrets extends ObjectController<ApiCluster> {
  readonly #tokens: ServiceAccountTokens;
  readonly #caPem: string;

  constructor(cluster: ApiCluster, caPem: string) {
    super(cluster, { name: 'token-secrets', user: 'tokens-controller', storage: 'secrets' });
    this.#tokens = cluster.credentials.serviceAccounts;
    this.#caPem = caPem;
  }

  protected async reconcile(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const secrets = this.client.ref(SECRETS);
    const accounts = this.client.ref(ACCOUNTS);
    if (secrets === undefined || accounts === undefined) return;
    const secret = this.client.get(secrets, { namespace, name });
    if (secret === undefined || !isTokenSecret(secret) || hasToken(secret)) return;
    const accountName = textAt(objectAt(metadataOf(secret), 'annotations'), ACCOUNT_NAME);
    const account = this.client.get(accounts, { namespace, name: accountName });
    if (account === undefined) return;
    const uid = textAt(metadataOf(account), 'uid');
    const boundTo = { kind: 'Secret', name, uid: textAt(metadataOf(secret), 'uid') };
    const issuedAt = Math.floor(this.cluster.clock.now() / 1000);
    const times = { issuedAt, expiresAt: issuedAt + TEN_YEARS_SECONDS };
    const token = await this.#tokens.issue({ namespace, name: accountName, uid, boundTo }, [], times);
    const data = { token: base64(token), 'ca.crt': base64(this.#caPem), namespace: base64(namespace) };
    const annotations = { 'kubernetes.io/service-account.uid': uid };
    await this.client.mergePatch(secrets, { namespace, name }, { metadata: { annotations }, data });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const { namespace, name } = KUBERNETES_SERVICE.metadata;

/**
 * Creates the Service `default/kubernetes` again when it is deleted. kube-apiserver checks every ten seconds. As there,
 * changes of the Service are not reverted. Source: kubernetes `pkg/controlplane/controller/kubernetesservice/controller.go`.
 */
class KubernetesService implements HubController {
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: Cluster) {
    this.#client = new LocalClient(cluster, 'kubernetes-service-controller');
    this.#loop = controllerLoop('kubernetes-service', () => this.#restore(), cluster);
  }

  start(): void {
    this.#unsubscribe = this.#client.watch('services', (events) => {
      if (events.some(({ entry }) => entry.namespace === namespace && entry.name === name))
        this.#loop.add(name);
    });
    this.#loop.add(name);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  async #restore(): Promise<void> {
    const ref = this.#client.ref(SERVICES);
    if (ref === undefined || this.#client.get(ref, { namespace, name }) !== undefined) return;
    await this.#client.create(ref, namespace, KUBERNETES_SERVICE);
  }
}

const EVENT_LIFETIME_MS = 3_600_000;
const EVENT_SWEEP_EVERY_MS = 60_000;
const EVENTS = { group: '', version: 'v1', plural: 'events' };

/** Events live for an hour after they were last seen. */
class EventExpiry implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'event-expiry');
    this.#loop = controllerLoop('events', () => this.#sweep(), cluster);
  }

  start(): void {
    this.#loop.add('sweep');
  }

  stop(): Promise<void> {
    return this.#loop.close();
  }

  async #sweep(): Promise<void> {
    const ref = this.#client.ref(EVENTS);
    const oldestMs = this.#cluster.clock.now() - EVENT_LIFETIME_MS;
    for (const object of ref === undefined ? [] : this.#client.list(ref)) {
      if (ref === undefined || lastSeenMs(object) >= oldestMs) continue;
      const metadata = metadataOf(object);
      await this.#client.delete(ref, {
        namespace: textAt(metadata, 'namespace'),
        name: textAt(metadata, 'name'),
      });
    }
    this.#loop.addAfter('sweep', EVENT_SWEEP_EVERY_MS);
  }
}

function lastSeenMs(event: JsonObject): number {
  const times = [
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    textAt(objectAt(event, 'series'), 'lastObservedTime'),
    textAt(metadataOf(event), 'creationTimestamp'),
  ];
  return Math.max(...times.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time)), 0);
}

const SEGMENT_LIMIT_BYTES = 64 * 1024 * 1024;
const SNAPSHOT_EVERY_MS = 3_600_000;
const LOG_CHECK_EVERY_MS = 5_000;
/** How many bytes could be lost from the end of the log without being noticed at a start. */
const CHECKPOINT_BYTES = 1024 * 1024;
const CHECKPOINT_EVERY_MS = 60_000;

/** Snapshots the store every 64 MiB of log, and every hour in which anything was written; checkpoints the log in between. */
class LogCompactor implements HubController {
  readonly #cluster: Cluster;
  readonly #loop: ReconcileLoop;
  #lastMs: number;
  #lastRv: number;
  #checkpoint: { readonly atMs: number; readonly bytes: number };

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#lastMs = cluster.clock.now();
    this.#lastRv = cluster.store.rv;
    this.#checkpoint = { atMs: this.#lastMs, bytes: cluster.store.logBytes };
    this.#loop = controllerLoop('compaction', () => this.#check(), cluster);
  }

  start(): void {
    this.#loop.add('check');
  }

  stop(): Promise<void> {
    return this.#loop.close();
  }

  async #check(): Promise<void> {
    const { store, clock } = this.#cluster;
    // A clock that jumps back must not delay compaction.
    const ageMs = Math.abs(clock.now() - this.#lastMs);
    const due =
      store.logBytes >= SEGMENT_LIMIT_BYTES || (ageMs >= SNAPSHOT_EVERY_MS && store.rv !== this.#lastRv);
    if (due) {
      this.#lastMs = clock.now();
      this.#lastRv = store.rv;
      await store.compact();
    }
    const { atMs, bytes } = this.#checkpoint;
    const grown = Math.abs(store.logBytes - bytes) >= CHECKPOINT_BYTES;
    if (grown || Math.abs(clock.now() - atMs) >= CHECKPOINT_EVERY_MS) {
      this.#checkpoint = { atMs: clock.now(), bytes: store.logBytes };
      await store.checkpoint();
    }
    this.#loop.addAfter('check', LOG_CHECK_EVERY_MS);
  }
}

interface ObjectControllerOptions {
  /** The name of the loop in log messages. */
  readonly name: string;
  /** The controller's name as a user of the API. */
  readonly user: string;
  /** Storage key of the resource. */
  readonly storage: string;
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
