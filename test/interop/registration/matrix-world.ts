import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { serveController } from '../../../src/app/serve/serve-controller.ts';
import {
  APPLIED_MANIFEST_WORK,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANIFEST_WORK,
  NAMESPACE,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { AddOnDuty } from '../../../src/core/addon/addon-duties.ts';
import { ACCEPT_NOBODY } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { DUTIES, type RegistrationDuty } from '../../../src/core/registration/duties.ts';
import { HubSide } from '../../agent/registration/hub-side.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { freePort } from '../peers/free-port.ts';
import { startPeer } from '../peers/peer-process.ts';
import { type MatrixAgent, startOcmAgents, startOurAgent } from './matrix-agents.ts';
import { BEHIND_MS, type MatrixHub } from './matrix-hub.ts';

export type Side = 'ours' | 'OCM';
export const CLUSTER = 'edge-1';
const AGENT_NAMESPACE = 'open-cluster-management-agent';
const HUB_NAMESPACE = 'open-cluster-management-hub';
const COPY = { namespace: 'default', name: 'hello' };
const LEASE_SECONDS = 2;
export const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 250 };

/** A hub with the controllers of one side, and a managed cluster with the agent of one side. */
export class MatrixWorld {
  readonly hub: HubSide;
  readonly #matrixHub: MatrixHub;
  readonly #member: Awaited<ReturnType<typeof startEmbeddedHub>>;
  readonly #agentSide: Side;
  readonly #dir = mkdtempSync(join(tmpdir(), 'berth-matrix-'));
  readonly #controllers: (() => Promise<void>)[] = [];
  #agent: MatrixAgent | undefined;

  private constructor(
    matrixHub: MatrixHub,
    member: Awaited<ReturnType<typeof startEmbeddedHub>>,
    agentSide: Side,
  ) {
    this.#matrixHub = matrixHub;
    this.#member = member;
    this.#agentSide = agentSide;
    this.hub = new HubSide(matrixHub.api);
  }

  static async start(matrixHub: MatrixHub, agentSide: Side): Promise<MatrixWorld> {
    const world = new MatrixWorld(matrixHub, await startEmbeddedHub(), agentSide);
    const inMember = [AGENT_NAMESPACE, 'open-cluster-management-agent-addon'];
    for (const name of inMember) await makeNamespace(world.#member.api, name);
    await makeNamespace(world.hub.api, HUB_NAMESPACE);
    return world;
  }

  async close(): Promise<void> {
    await this.killAgent();
    for (const end of this.#controllers.splice(0)) await end();
    await this.#member.close();
    await this.#matrixHub.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** The managed cluster, as its administrator. */
  get member(): KubeApi {
    return this.#member.api;
  }

  /** For files of the test. */
  get dir(): string {
    return this.#dir;
  }

  /**
   * @param duties those of ours; OCM's has no choice
   * @param addons those of ours for add-ons
   */
  async startControllers(
    side: Side,
    duties: readonly RegistrationDuty[] = DUTIES,
    addons: readonly AddOnDuty[] = [],
  ): Promise<void> {
    if (side === 'OCM') {
      const peer = startPeer('ocm/registration', {
        args: [
          ...['controller', `--kubeconfig=${this.#matrixHub.kubeconfig}`, `--namespace=${HUB_NAMESPACE}`],
          ...['--disable-leader-election', `--listen=127.0.0.1:${await freePort()}`],
        ],
        logFile: join(this.#dir, 'ocm-hub.log'),
        env: { POD_NAME: 'test', POD_NAMESPACE: HUB_NAMESPACE },
      });
      this.#controllers.push(() => peer.stop());
      return;
    }
    const running = await serveController({
      ...{ api: this.hub.api, sources: [], clock: systemClock, log: new SilentLogger() },
      ...{ dataDir: mkdtempSync(join(this.#dir, 'data-')), random: Math.random },
      ...{ engineVersion: 'test', env: process.env, works: false },
      registration: { duties, autoAcceptance: ACCEPT_NOBODY, clock: systemClock },
      ...(addons.length > 0 && { addons: { duties: addons, clock: systemClock } }),
    });
    this.#controllers.push(() => running.close());
  }

  async startAgent(): Promise<void> {
    const hubDir = join(this.#dir, 'hub');
    mkdirSync(hubDir, { recursive: true });
    const bootstrap = join(this.#dir, 'bootstrap.kubeconfig');
    // An administrator may do what a bootstrap account may; the rights of that account are tested elsewhere.
    writeFileSync(bootstrap, readFileSync(this.#matrixHub.kubeconfig));
    const place = { cluster: CLUSTER, bootstrap, kubeconfig: this.#member.kubeconfig };
    const given = { ...place, hubDir, logDir: this.#dir };
    this.#agent = this.#agentSide === 'ours' ? startOurAgent(given) : await startOcmAgents(given);
  }

  async killAgent(): Promise<void> {
    await this.#agent?.kill();
    this.#agent = undefined;
  }

  /** What a person does: accepts the cluster and approves the request of its agent. */
  async accept(): Promise<void> {
    await this.setAccepted(true);
    await expect.poll(() => this.hub.condition(CLUSTER, 'HubAcceptedManagedCluster'), PATIENT).toBe('True');
    await this.hub.decide(CLUSTER);
  }

  async setAccepted(hubAcceptsClient: boolean): Promise<void> {
    const spec = { hubAcceptsClient, leaseDurationSeconds: LEASE_SECONDS };
    await this.hub.api.mergePatch(MANAGED_CLUSTER, { namespace: '', name: CLUSTER }, { spec });
  }

  available(): Promise<string | undefined> {
    return this.hub.condition(CLUSTER, 'ManagedClusterConditionAvailable');
  }

  async taints(): Promise<readonly string[]> {
    return ((await this.hub.cluster(CLUSTER))?.spec?.taints ?? []).map(({ key }) => key);
  }

  async lease(): Promise<string | undefined> {
    return this.hub.lease(CLUSTER);
  }

  /** Names of what the agent may use in its namespace. */
  async bindings(): Promise<number> {
    return (await this.hub.api.list(ROLE_BINDING, { namespace: CLUSTER })).items.length;
  }

  async giveWork(): Promise<void> {
    await this.hub.api.create(MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { namespace: CLUSTER, name: 'hello' },
      spec: { workload: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: COPY }] } },
    });
  }

  async hasCopy(): Promise<boolean> {
    return (await this.#member.api.get(CONFIG_MAP, COPY)) !== undefined;
  }

  async appliedWorks(): Promise<number> {
    return (await this.#member.api.list(APPLIED_MANIFEST_WORK)).items.length;
  }

  async workStatus(): Promise<string | undefined> {
    const work = await this.hub.api.get(MANIFEST_WORK, { namespace: CLUSTER, name: 'hello' });
    return /"type":"Applied","status":"(\w+)"|"status":"(\w+)","type":"Applied"/
      .exec(JSON.stringify(work?.['status'] ?? {}))
      ?.slice(1)
      .find((one) => one !== undefined);
  }

  async isGone(): Promise<boolean> {
    return (await this.hub.cluster(CLUSTER)) === undefined;
  }

  async removeCluster(): Promise<void> {
    await this.hub.api.delete(MANAGED_CLUSTER, { namespace: '', name: CLUSTER });
  }

  /** Serial numbers of what the hub signed for the agent. */
  async signed(): Promise<readonly string[]> {
    return (await this.hub.requests(CLUSTER)).flatMap(({ status }) => {
      const { certificate } = (status ?? {}) as { readonly certificate?: string };
      if (certificate === undefined) return [];
      return [new X509Certificate(Buffer.from(certificate, 'base64')).serialNumber];
    });
  }

  /**
   * OCM's agent reads its Secret when that changes, and every five minutes. It gets another certificate there, of the same key and the same
   * names: of an hour, of which so much is over that it is due.
   */
  async ageCertificate(): Promise<void> {
    const key = { namespace: AGENT_NAMESPACE, name: 'hub-kubeconfig-secret' };
    const data = (await this.#member.api.get(SECRET, key))?.['data'] as Readonly<Record<string, string>>;
    const held = new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
    const { CN, O } = held.toLegacyObject().subject as unknown as { CN: string; O: readonly string[] };
    const aged = await this.#matrixHub.authority.signClientKey(
      {
        subject: { commonName: CN, organizations: O },
        publicKeyDer: held.publicKey.export({ type: 'spki', format: 'der' }),
        lifetimeMs: 3_600_000,
      },
      Date.now() - BEHIND_MS,
    );
    const changed = { data: { 'tls.crt': Buffer.from(aged).toString('base64') } };
    await this.#member.api.mergePatch(SECRET, key, changed);
  }

  /** The certificate that the agent has now. */
  certificate(): X509Certificate | undefined {
    const file = join(this.#dir, 'hub', 'tls.crt');
    return existsSync(file) ? new X509Certificate(readFileSync(file)) : undefined;
  }

  signForAnHour(): Promise<void> {
    return this.#matrixHub.signForAnHour();
  }

  /** resourceVersions of all that controllers of registration write, leases and certificate requests left out. */
  async versions(): Promise<string> {
    const { api } = this.hub;
    const lists = await Promise.all(
      [
        ...[MANAGED_CLUSTER, MANAGED_CLUSTER_SET, NAMESPACE],
        ...[CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING],
      ].map((kind) => api.list(kind)),
    );
    const of = lists.flatMap(({ items }) =>
      items.map(({ metadata: { name, namespace = '', resourceVersion = '' } }) => [
        namespace,
        name,
        resourceVersion,
      ]),
    );
    return JSON.stringify(of);
  }
}

async function makeNamespace(api: KubeApi, name: string): Promise<void> {
  if ((await api.get(NAMESPACE, { namespace: '', name })) !== undefined) return;
  await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
