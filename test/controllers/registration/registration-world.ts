import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import { serveCache } from '../../../src/app/serve/serve-cache.ts';
import type { RunningControllers } from '@berth/kube/controller/run-controllers';
import { startRegistration } from '../../../src/controllers/registration/start-registration.ts';
import type { RegistrationOptions } from '../../../src/controllers/registration/registration-options.ts';
import {
  ACCEPT_NOBODY,
  type AutoAcceptance,
} from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import {
  DUTIES,
  type RegistrationDuty,
  type RegistrationEvent,
} from '../../../src/core/registration/duties.ts';
import {
  apiVersionOf,
  CERTIFICATE_REQUEST,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
} from '@berth/kube/model/kinds';
import { CLUSTER_LEASE, agentUser, clusterGroup } from '@berth/ocm/registration/names';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { makeCertificateRequest } from '../../e2e/certificate-request.ts';

export interface WorldOptions {
  readonly duties?: readonly RegistrationDuty[];
  readonly autoAcceptance?: AutoAcceptance;
  /** Default: no placement is decided. */
  readonly decides?: RegistrationOptions['decides'];
  readonly holdsOfPull?: RegistrationOptions['holdsOfPull'];
  /** Whether the hub checks and completes OCM's kinds, as their webhooks do. Default: true. */
  readonly admission?: boolean;
  /** Of the controllers, not of the hub. */
  readonly clock?: SleepingClock;
  /** What the controllers use; default: the administrator's. */
  readonly api?: KubeApi;
}

/** An embedded hub with the checks of OCM's kinds, and the controllers of registration on it. */
export class RegistrationWorld {
  readonly events: RegistrationEvent[] = [];
  readonly log = new SilentLogger();
  readonly hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  #running: RunningControllers | undefined;
  #supervisor: Supervisor | undefined;
  readonly #agents: HttpKubeApi[] = [];

  private constructor(hub: Awaited<ReturnType<typeof startEmbeddedHub>>) {
    this.hub = hub;
  }

  static async create(options: WorldOptions = {}): Promise<RegistrationWorld> {
    const world = new RegistrationWorld(
      await startEmbeddedHub({}, { admission: hubAdmission({ ocm: options.admission !== false }) }),
    );
    world.start(options);
    return world;
  }

  get api(): KubeApi {
    return this.hub.api;
  }

  start(options: WorldOptions = {}): void {
    const { duties = DUTIES, autoAcceptance = ACCEPT_NOBODY, clock = systemClock, api = this.api } = options;
    const { decides, holdsOfPull } = options;
    const shared = { clock, random: Math.random, log: this.log };
    const registration = { duties, autoAcceptance, clock };
    const served = {
      ...shared,
      api,
      registration,
      sources: [],
      dataDir: '',
      engineVersion: '',
      env: {},
    };
    const history = { check: () => Promise.resolve(0), reportBreak: () => Promise.resolve() };
    const cache = serveCache(served, () => undefined, history);
    this.#supervisor = new Supervisor(shared);
    const onEvent = (event: RegistrationEvent): void => void this.events.push(event);
    const of = { autoAcceptance, decides, holdsOfPull };
    this.#running = startRegistration({ ...shared, hub: api, cache, ...of, onEvent }, duties);
    cache.start(this.#supervisor);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#running?.close(), this.#supervisor?.close()]);
  }

  async close(): Promise<void> {
    await this.stop();
    for (const agent of this.#agents) agent.close();
    await this.hub.close();
  }

  warnings(): readonly string[] {
    return this.#running?.warnings() ?? [];
  }

  /** What an agent creates with its bootstrap kubeconfig. */
  register(
    name: string,
    over: { readonly spec?: object; readonly metadata?: object } = {},
  ): Promise<KubeObject> {
    return this.make(MANAGED_CLUSTER, {
      metadata: { name, ...over.metadata },
      spec: { hubAcceptsClient: false, leaseDurationSeconds: 60, ...over.spec },
    });
  }

  make(kind: KindInfo, content: object): Promise<KubeObject> {
    const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...content };
    return this.api.create(kind, typed as unknown as KubeObject);
  }

  accept(name: string, hubAcceptsClient = true): Promise<KubeObject> {
    return this.patch(MANAGED_CLUSTER, name, { spec: { hubAcceptsClient } });
  }

  patch(kind: KindInfo, name: string, patch: object, namespace = ''): Promise<KubeObject> {
    return this.api.mergePatch(kind, { namespace, name }, patch);
  }

  get(kind: KindInfo, name: string, namespace = ''): Promise<KubeObject | undefined> {
    return this.api.get(kind, { namespace, name });
  }

  work(cluster: string, name: string, metadata: object = {}): Promise<KubeObject> {
    return this.make(MANIFEST_WORK, {
      metadata: { name, namespace: cluster, ...metadata },
      spec: { workload: { manifests: [configMap(name)] } },
    });
  }

  /** `Type=Status/Reason` of each condition. */
  async conditions(name: string): Promise<readonly string[]> {
    const cluster = await this.get(MANAGED_CLUSTER, name);
    const { conditions = [] } = (cluster?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
    return conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).sort();
  }

  async taints(name: string): Promise<readonly unknown[]> {
    const cluster = await this.get(MANAGED_CLUSTER, name);
    return ((cluster?.['spec'] ?? {}) as { readonly taints?: readonly unknown[] }).taints ?? [];
  }

  /** A cluster that is registered and accepted, with its lease. For tests and `beforeEach`. */
  async accepted(name: string): Promise<void> {
    await this.register(name);
    await this.accept(name);
    const isAccepted = 'HubAcceptedManagedCluster=True/HubClusterAdminAccepted';
    await expect.poll(() => this.conditions(name)).toContain(isAccepted);
    await expect.poll(() => this.get(LEASE, CLUSTER_LEASE, name)).toBeDefined();
  }

  /** A client with a certificate that a person approved. */
  async agentOf(cluster: string): Promise<HttpKubeApi> {
    const key = freshKey();
    const request = await this.request(cluster, key);
    await this.approve(request);
    await expect.poll(() => this.certificate(request)).toBeDefined();
    return this.agent((await this.certificate(request)) ?? '', key);
  }

  /**
   * Asks for a certificate, as an agent does.
   * @param by who asks; default: the administrator of the hub
   */
  async request(cluster: string, key: KeyObject, by: KubeApi = this.api, agent = 'agent1'): Promise<string> {
    const commonName = agentUser({ cluster, agent });
    const pem = await makeCertificateRequest(key, { commonName, organization: clusterGroup(cluster) });
    return this.ask(pem, { labels: { 'open-cluster-management.io/cluster-name': cluster } }, by);
  }

  /**
   * Makes a certificate request of any content.
   * @returns its name
   */
  async ask(
    pem: string,
    over: { readonly labels?: Readonly<Record<string, string>>; readonly signerName?: string },
    by: KubeApi = this.api,
  ): Promise<string> {
    const { labels = {}, signerName = 'kubernetes.io/kube-apiserver-client' } = over;
    const made = await by.create(CERTIFICATE_REQUEST, {
      apiVersion: apiVersionOf(CERTIFICATE_REQUEST),
      kind: CERTIFICATE_REQUEST.kind,
      metadata: { generateName: 'request-', labels } as unknown as KubeObject['metadata'],
      spec: {
        signerName,
        usages: ['digital signature', 'key encipherment', 'client auth'],
        request: Buffer.from(pem).toString('base64'),
      },
    });
    return made.metadata.name;
  }

  /** What a person does: `kubectl certificate approve`. */
  async approve(name: string): Promise<void> {
    const csr = (await this.get(CERTIFICATE_REQUEST, name)) as KubeObject;
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }];
    await this.api.update(
      CERTIFICATE_REQUEST,
      { ...csr, status: { conditions } },
      { subresource: 'approval' },
    );
  }

  /** The certificate of a request, PEM; undefined while there is none. */
  async certificate(name: string): Promise<string | undefined> {
    const { certificate } = ((await this.get(CERTIFICATE_REQUEST, name))?.['status'] ?? {}) as {
      readonly certificate?: string;
    };
    return certificate === undefined ? undefined : Buffer.from(certificate, 'base64').toString();
  }

  /** A client of the hub with a certificate. */
  agent(certificate: string, key: KeyObject): HttpKubeApi {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const { url, caPem } = this.hub.hub;
    const config = loadKubeConfig({
      text: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'hub', cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
        users: [
          {
            name: 'agent',
            user: {
              'client-certificate-data': base64(certificate),
              'client-key-data': base64(key.export({ type: 'pkcs8', format: 'pem' }).toString()),
            },
          },
        ],
        contexts: [{ name: 'agent', context: { cluster: 'hub', user: 'agent' } }],
        'current-context': 'agent',
      }),
    });
    const api = new HttpKubeApi({ config, clock: systemClock });
    this.#agents.push(api);
    return api;
  }
}

export function freshKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function configMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
}
