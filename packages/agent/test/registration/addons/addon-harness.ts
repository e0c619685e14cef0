import { CERTIFICATE_REQUEST, LEASE, MANAGED_CLUSTER_ADDON, SECRET } from '@berth/kube/model/kinds';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi, WriteOptions } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { readSubject } from '@berth/kube/x509/certificate-subject';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { InputError } from '@berth/runtime/errors';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { type AddonOptions, AddonAgent } from '../../../src/registration/addons/run-addons.ts';
import { SecretStore } from '../../../src/registration/credentials/secret-store.ts';
import type { RegistrationSettings } from '../../../src/registration/options/registration-settings.ts';
import type { StatusRegistration } from '@berth/ocm/kind/addon';
import type { ClusterAddon } from '../../../src/rules/addons/addon-registrations.ts';

export const CLUSTER = 'edge-1';
export const INSTALL_NAMESPACE = 'open-cluster-management-agent-addon';
export const HUB_CLIENT = 'kubernetes.io/kube-apiserver-client';
export const HOUR_MS = 3_600_000;
export const ENTRY = {
  name: 'hub',
  server: 'https://hub.example',
  proxyUrl: 'http://proxy:3128',
  caData: 'Q0E=',
};
/** Where the agent keeps its own credentials. */
const OWN = { namespace: 'open-cluster-management-agent', name: 'hub-kubeconfig-secret' };
const AUTHORITY = new CertificateAuthority(createAuthority('test', Date.parse('2025-01-01T00:00:00Z')));

/** A hub with service accounts. */
export class AddonHub extends FakeKubeApi {
  readonly #clock: FakeClock;
  /** UID of each service account, by name. */
  readonly accounts = new Map<string, string>();
  tokens = 0;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override async create(kind: KindInfo, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    if (options.subresource !== 'token') return super.create(kind, object, options);
    const { name, namespace } = object.metadata;
    const uid = this.accounts.get(name);
    if (uid === undefined) throw notFound(`serviceaccounts ${name}`);
    this.tokens += 1;
    const { expirationSeconds } = object['spec'] as { readonly expirationSeconds: number };
    const iat = Math.floor(this.#clock.now() / 1_000);
    const subject = { sub: `system:serviceaccount:${namespace}:${name}`, jti: this.tokens };
    const claims = {
      ...subject,
      iat,
      exp: iat + expirationSeconds,
      'kubernetes.io': { serviceaccount: { uid } },
    };
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
    return { ...object, status: { token } };
  }
}

/** A cluster in which some namespaces are missing. */
export class AddonCluster extends FakeKubeApi {
  readonly missing = new Set<string>();

  override async create(kind: KindInfo, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const { namespace = '' } = object.metadata;
    if (this.missing.has(namespace)) throw notFound(`namespaces ${namespace}`);
    return super.create(kind, object, options);
  }
}

function notFound(subject: string): InputError {
  return new InputError('not found', { code: 'kube.notfound', subject });
}

/** A hub, a managed cluster, a hosting cluster, and the agent's part of add-ons between them, on a clock that the test moves. */
export class AddonWorld {
  readonly clock = new FakeClock();
  readonly hub = new AddonHub(this.clock);
  readonly cluster = new AddonCluster();
  readonly hosting = new AddonCluster();
  readonly log = new SilentLogger();
  isUnknown = false;
  #stop = new AbortController();
  #running: Promise<void> | undefined;
  agent: AddonAgent | undefined;

  /** @param through each API as the agent sees it */
  async start(
    over: Partial<RegistrationSettings> = {},
    through: (api: KubeApi) => KubeApi = (api) => api,
    more: Partial<AddonOptions> = {},
  ): Promise<void> {
    this.#stop = new AbortController();
    const settings: RegistrationSettings = {
      ...{ clock: this.clock, random: () => 0.5, log: this.log, env: {} },
      connect: () => {
        throw new Error('add-ons use the connections of their cluster');
      },
      ...{ expirationSeconds: undefined, clientConfigs: [], annotations: {}, hubTimeoutMs: 600_000 },
      claims: { maxCustom: 20, reservedSuffixes: [] },
      addons: { driver: 'csr', tokenSeconds: 3_600 },
      ...over,
    };
    const [hub, cluster, hosting] = [this.hub, this.cluster, this.hosting].map((api) => through(api)) as [
      KubeApi,
      KubeApi,
      KubeApi,
    ];
    this.agent = new AddonAgent(
      {
        ...{ hub, cluster, hosting, settings, entry: ENTRY },
        identity: { cluster: CLUSTER, agent: 'a1b2c' },
        store: new SecretStore(hosting, OWN),
        ...more,
      },
      () => this.isUnknown,
    );
    this.#running = this.agent.run(this.#stop.signal);
    await this.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Lets the agent do what it does at once, and what it does within `forMs`. */
  async settle(forMs = 2_000): Promise<void> {
    for (let round = 0; round < 10; round++) await this.clock.advance(forMs / 10);
  }

  async addAddon(
    name: string,
    status: ClusterAddon['status'],
    more: { readonly annotations?: Record<string, string>; readonly finalizers?: readonly string[] } = {},
  ): Promise<void> {
    const key = { namespace: CLUSTER, name };
    await this.hub.create(MANAGED_CLUSTER_ADDON, {
      apiVersion: 'addon.open-cluster-management.io/v1alpha1',
      kind: 'ManagedClusterAddOn',
      metadata: { ...key, ...more },
      spec: {},
    });
    await this.setStatus(name, status ?? {});
  }

  async setStatus(name: string, status: object): Promise<void> {
    const key = { namespace: CLUSTER, name };
    await this.hub.mergePatch(MANAGED_CLUSTER_ADDON, key, { status }, { subresource: 'status' });
    await this.settle();
  }

  async setCondition(name: string, condition: Condition): Promise<void> {
    const others = ((await this.addon(name))?.status?.conditions ?? []).filter(
      ({ type }) => type !== condition.type,
    );
    await this.setStatus(name, { conditions: [...others, condition] });
  }

  async deleteAddon(name: string): Promise<void> {
    await this.hub.delete(MANAGED_CLUSTER_ADDON, { namespace: CLUSTER, name });
    await this.settle();
  }

  async addon(name: string): Promise<ClusterAddon | undefined> {
    return await this.hub.get(MANAGED_CLUSTER_ADDON, { namespace: CLUSTER, name });
  }

  /** `True ManagedClusterAddOnLeaseUpdated: a add-on is available.` */
  async condition(name: string, type: string): Promise<string | undefined> {
    const found = (await this.addon(name))?.status?.conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}: ${found.message}`;
  }

  /** The certificate requests of add-ons. */
  async requests(): Promise<readonly KubeObject[]> {
    return (await this.hub.list(CERTIFICATE_REQUEST)).items;
  }

  /** The manager approves all open requests, and the hub signs them. */
  async sign(lifetimeMs = HOUR_MS): Promise<void> {
    for (const request of await this.requests()) {
      if (request['status'] !== undefined) continue;
      const status = {
        conditions: [{ type: 'Approved' }],
        certificate: await certificateFor(request, this.clock.now(), lifetimeMs),
      };
      const key = { namespace: '', name: request.metadata.name };
      await this.hub.mergePatch(CERTIFICATE_REQUEST, key, { status }, { subresource: 'status' });
    }
    await this.settle();
  }

  async decide(status: object): Promise<void> {
    for (const request of await this.requests())
      if (request['status'] === undefined)
        await this.hub.mergePatch(
          CERTIFICATE_REQUEST,
          { namespace: '', name: request.metadata.name },
          { status },
          { subresource: 'status' },
        );
    await this.settle();
  }

  /** The files of a Secret; undefined if there is none. */
  async files(
    name: string,
    { namespace = INSTALL_NAMESPACE, on = this.cluster } = {},
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const secret = await on.get(SECRET, { namespace, name });
    if (secret === undefined) return undefined;
    const entries = Object.entries(secret['data'] as Readonly<Record<string, string>>);
    return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
  }

  /** The add-on's agent lives. */
  async renewLease(name: string, { namespace = INSTALL_NAMESPACE, on = this.cluster } = {}): Promise<void> {
    const spec = { renewTime: formatMicroTime(instantFromEpochMs(this.clock.now())) };
    const metadata = { namespace, name };
    if ((await on.get(LEASE, metadata)) === undefined)
      await on.create(LEASE, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    else await on.mergePatch(LEASE, metadata, { spec });
    await this.settle();
  }
}

/** @returns PEM in base64 */
async function certificateFor(request: KubeObject, nowMs: number, lifetimeMs: number): Promise<string> {
  const pem = Buffer.from((request['spec'] as { request: string }).request, 'base64').toString();
  const read = readCertificateRequest(pem);
  if (read.kind !== 'request') throw new Error(read.why);
  const subject = readSubject(read.subjectDer);
  if (subject.kind !== 'subject') throw new Error(subject.why);
  const { publicKeyDer } = read;
  const signed = await AUTHORITY.signClientKey({ subject: subject.subject, publicKeyDer, lifetimeMs }, nowMs);
  return Buffer.from(signed).toString('base64');
}

export const hubClient = (
  addon = 'helloworld',
  over: StatusRegistration['subject'] = {},
): StatusRegistration => {
  const group = `system:open-cluster-management:cluster:${CLUSTER}:addon:${addon}`;
  const groups = [group, `system:open-cluster-management:addon:${addon}`];
  return { signerName: HUB_CLIENT, subject: { user: `${group}:agent:${addon}-agent`, groups, ...over } };
};
