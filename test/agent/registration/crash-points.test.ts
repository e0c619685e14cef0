import { describe, expect, it } from 'vitest';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { SecretStore } from '../../../packages/agent/src/registration/credentials/secret-store.ts';
import type { ManagedApi } from '../../../packages/agent/src/registration/options/registration-settings.ts';
import { runRegistration } from '../../../packages/agent/src/registration/run-registration.ts';
import { CERTIFICATE_REQUEST, LEASE, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { seeded, seedsFrom } from '@berth/test-kit/seeded-random';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const AUTHORITY = new CertificateAuthority(createAuthority('test', Date.parse('2025-01-01T00:00:00Z')));
const HOUR_MS = 3_600_000;
const CLUSTER_KEY = { namespace: '', name: 'edge-1' };

/** A cluster that joins, played once for each write of its agent: it is killed there, and another one goes on. */
class Play {
  readonly hub = new FakeKubeApi();
  readonly cluster = new FakeKubeApi();
  readonly clock = new FakeClock();
  readonly #lives: readonly Life[];
  #current = 0;

  /** @param deaths at which write each agent dies, one after the other, and whether that was still done */
  constructor(deaths: readonly { readonly at: number; readonly lastIsDone: boolean }[]) {
    this.#lives = [
      ...deaths.map(({ at, lastIsDone }) => ({ dead: false, writesLeft: at, lastIsDone })),
      { dead: false, writesLeft: Infinity, lastIsDone: true },
    ];
  }

  get #life(): Life {
    return this.#lives[this.#current] as Life;
  }

  get writesLeft(): number {
    return this.#life.writesLeft;
  }

  start(): void {
    const life = this.#life;
    const managed = withEndpoints(new MortalKubeApi(this.cluster, life));
    const parts = {
      clusters: [{ name: 'hub', server: this.hub.server }],
      users: [{ name: 'boot', token: 'x' }],
      contexts: [{ name: 'hub', cluster: 'hub', user: 'boot' }],
      currentContext: 'hub',
    };
    const running = runRegistration(
      {
        bootstraps: [() => new KubeConfig(parts, {})],
        store: new SecretStore(managed, { namespace: 'agent', name: 'hub-kubeconfig-secret' }),
        cluster: managed,
        hosting: managed,
        clusterName: 'edge-1',
        agentId: undefined,
        settings: {
          clock: this.clock,
          random: () => 0.5,
          log: new SilentLogger(),
          env: {},
          connect: () => ({ api: new MortalKubeApi(this.hub, life), close: () => undefined }),
          expirationSeconds: 3_600,
          clientConfigs: [],
          annotations: {},
          claims: { maxCustom: 20, reservedSuffixes: [] },
          addons: { driver: 'csr', tokenSeconds: 3_600 },
          hubTimeoutMs: 600_000,
        },
        startWorks: () => async () => undefined,
      },
      new AbortController().signal,
    );
    running.catch(() => undefined);
  }

  /** Time passes in steps, at the end of which the hub acts and a dead agent is started again. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.clock.advance(1_000);
      await this.#actAsHub();
      if (!this.#life.dead) continue;
      this.#current += 1;
      this.start();
    }
  }

  async requests(): Promise<number> {
    return (await this.hub.list(CERTIFICATE_REQUEST)).items.length;
  }

  async managed(): Promise<ManagedCluster | undefined> {
    return (await this.hub.get(MANAGED_CLUSTER, CLUSTER_KEY)) as unknown as ManagedCluster | undefined;
  }

  async renewTime(): Promise<unknown> {
    const lease = await this.hub.get(LEASE, { namespace: 'edge-1', name: 'managed-cluster-lease' });
    return (lease?.['spec'] as { renewTime?: string } | undefined)?.renewTime;
  }

  async #actAsHub(): Promise<void> {
    const managed = await this.managed();
    if (managed !== undefined && managed.status === undefined) {
      const accepted = { type: 'HubAcceptedManagedCluster', status: 'True', reason: 'R', message: '' };
      await this.hub.mergePatch(
        MANAGED_CLUSTER,
        CLUSTER_KEY,
        { status: { conditions: [accepted] } },
        { subresource: 'status' },
      );
      await this.hub.create(LEASE, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'edge-1', name: 'managed-cluster-lease' },
        spec: { renewTime: 'never' },
      });
    }
    for (const request of (await this.hub.list(CERTIFICATE_REQUEST)).items) {
      if (request['status'] !== undefined) continue;
      const pem = Buffer.from((request['spec'] as { request: string }).request, 'base64').toString();
      const read = readCertificateRequest(pem);
      if (read.kind !== 'request') throw new Error(read.why);
      const groups = [
        'system:open-cluster-management:edge-1',
        'system:open-cluster-management:managed-clusters',
      ];
      const commonName = await this.#commonName();
      const signed = await AUTHORITY.signClientKey(
        {
          subject: { commonName, organizations: groups },
          publicKeyDer: read.publicKeyDer,
          lifetimeMs: HOUR_MS,
        },
        this.clock.now(),
      );
      await this.hub.mergePatch(
        CERTIFICATE_REQUEST,
        { namespace: '', name: request.metadata.name },
        {
          status: { conditions: [{ type: 'Approved' }], certificate: Buffer.from(signed).toString('base64') },
        },
        { subresource: 'status' },
      );
    }
  }

  async #commonName(): Promise<string> {
    const secret = await this.cluster.get(
      { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
      { namespace: 'agent', name: 'hub-kubeconfig-secret' },
    );
    const agent = Buffer.from(
      (secret?.['data'] as Record<string, string>)['agent-name'] ?? '',
      'base64',
    ).toString();
    return `system:open-cluster-management:edge-1:${agent}`;
  }
}

function withEndpoints(api: KubeApi): ManagedApi {
  return Object.assign(api, {
    probe: async (path: string) => ({
      statusCode: 200,
      text: path === '/version' ? '{"gitVersion":"v1.35.0"}' : 'ok',
    }),
  });
}

async function join(play: Play): Promise<void> {
  play.start();
  await play.pass(90);
}

const writes = async (): Promise<number> => {
  const play = new Play([{ at: 1_000, lastIsDone: true }]);
  await join(play);
  return 1_000 - play.writesLeft;
};

describe('an agent that is killed at a write of its join', () => {
  it('makes these writes when nobody kills it', async () => {
    const play = new Play([{ at: 1_000, lastIsDone: true }]);
    await join(play);
    // The events and the acts of the hub aside.
    const ofHub = play.hub.writes.filter(
      (line) => !/^(PATCH|POST) (certificatesigningrequests .*status|leases|events)/.test(line),
    );
    expect([...play.cluster.writes, ...ofHub].map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'POST secrets',
      'PATCH secrets',
      'PATCH secrets',
      'POST managedclusters',
      'POST certificatesigningrequests',
      'PATCH managedclusters',
      'PUT leases',
      'PATCH managedclusters',
      'PUT leases',
    ]);
    expect(await play.requests()).toBe(1);
  });

  it.each([true, false])(
    'ends as a joined cluster with one request; the write was done: %s',
    async (lastIsDone) => {
      const count = await writes();
      expect(count).toBeGreaterThanOrEqual(6);
      for (let at = 1; at <= count; at++) {
        const play = new Play([{ at, lastIsDone }]);
        await join(play);
        const conditions = (await play.managed())?.status?.conditions ?? [];
        expect({
          at,
          joined: conditions.find(({ type }) => type === 'ManagedClusterJoined')?.status,
        }).toEqual({ at, joined: 'True' });
        expect({ at, requests: await play.requests() }).toEqual({ at, requests: 1 });
        expect(await play.renewTime()).not.toBe('never');
      }
    },
  );

  it.each([...seedsFrom(0, 12)])('again and again, seed %i', async (seed) => {
    const random = seeded(seed);
    const deaths = Array.from({ length: 6 }, () => ({
      at: 1 + Math.floor(4 * random()),
      lastIsDone: random() < 0.5,
    }));
    const play = new Play(deaths);
    await join(play);
    await play.pass(120);
    expect(await play.requests()).toBe(1);
    const conditions = (await play.managed())?.status?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'ManagedClusterJoined')?.status).toBe('True');
    expect(await play.renewTime()).not.toBe('never');
  });
});
