import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { FolderStore } from '../../../packages/agent/src/registration/credentials/folder-store.ts';
import type { RegistrationSettings } from '../../../packages/agent/src/registration/options/registration-settings.ts';
import {
  type Registration,
  runRegistration,
} from '../../../packages/agent/src/registration/run-registration.ts';
import { startAgent } from '@berth/agent/start-agent';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { HubSide } from './hub-side.ts';

export const BOOTSTRAP_USER = 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap';

export interface AgentRun {
  readonly log: SilentLogger;
  stop(): Promise<void>;
}

/** An embedded hub with members, and agents that register them; all over sockets. */
export class RegistrationWorld {
  readonly hub: HubSide;
  readonly dir: string;
  readonly clock: MonotonicClock;
  readonly #embedded: Awaited<ReturnType<typeof startEmbeddedHub>>;
  readonly #open: (() => Promise<void> | void)[] = [];

  private constructor(embedded: Awaited<ReturnType<typeof startEmbeddedHub>>, clock: MonotonicClock) {
    this.#embedded = embedded;
    this.clock = clock;
    this.hub = new HubSide(embedded.api);
    this.dir = mkdtempSync(join(tmpdir(), 'berth-registration-'));
  }

  static async start(
    members: readonly string[] = ['cluster1'],
    clock: MonotonicClock = systemClock,
  ): Promise<RegistrationWorld> {
    const embedded = await startEmbeddedHub({ clock }, { members, clock });
    const world = new RegistrationWorld(embedded, clock);
    await world.hub.prepare(BOOTSTRAP_USER);
    await world.writeBootstrap();
    return world;
  }

  get bootstrapFile(): string {
    return join(this.dir, 'bootstrap.kubeconfig');
  }

  get hubUrl(): string {
    return this.#embedded.hub.url;
  }

  /** @param change of the text of the kubeconfig */
  async writeBootstrap(change: (text: string) => string = (text) => text): Promise<void> {
    const dataDir = dirname(this.#embedded.kubeconfig);
    const asked = { dataDir, user: BOOTSTRAP_USER, groups: [], cluster: '' };
    writeFileSync(this.bootstrapFile, change(await issueKubeconfig(asked, this.clock.now())));
  }

  folder(name = 'cluster1'): string {
    return join(this.dir, `hub-of-${name}`);
  }

  member(name = 'cluster1'): HttpKubeApi {
    const config = loadKubeConfig({ file: this.#embedded.hub.memberKubeconfigPath(name) });
    const api = new HttpKubeApi({ config, clock: this.clock, maxRequests: 4 });
    this.#open.push(() => api.close());
    return api;
  }

  settings(log: SilentLogger): RegistrationSettings {
    const { clock } = this;
    return {
      clock,
      random: Math.random,
      log,
      env: {},
      connect: (config) => {
        const api = new HttpKubeApi({ config, clock });
        return { api, close: () => api.close() };
      },
      expirationSeconds: undefined,
      clientConfigs: [],
      annotations: {},
      claims: { maxCustom: 20, reservedSuffixes: [] },
      addons: { driver: 'csr', tokenSeconds: 3_600 },
      hubTimeoutMs: 600_000,
    };
  }

  run(
    over: Partial<Omit<Registration, 'settings'>> & {
      readonly settings?: Partial<RegistrationSettings>;
    } = {},
  ): AgentRun {
    const log = new SilentLogger();
    const stopping = new AbortController();
    const cluster = over.cluster ?? this.member(over.clusterName);
    const registration: Registration = {
      bootstraps: [() => loadKubeConfig({ file: this.bootstrapFile, env: {} })],
      store: new FolderStore(this.folder(over.clusterName), log),
      cluster,
      hosting: cluster,
      clusterName: 'cluster1',
      agentId: undefined,
      startWorks: (hub, identity) => {
        const agent = startAgent({ hub, cluster, clusterName: identity.cluster, clock: this.clock, log });
        return () => agent.close();
      },
      ...over,
      settings: { ...this.settings(log), ...over.settings },
    };
    const running = runRegistration(registration, stopping.signal);
    let ended: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopping.abort();
      return (ended ??= running);
    };
    this.#open.push(stop);
    return { log, stop };
  }

  async close(): Promise<void> {
    for (const close of this.#open.splice(0).reverse()) await close();
    await this.#embedded.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
