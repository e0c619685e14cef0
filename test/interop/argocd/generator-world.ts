import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { type RunningController, serveController } from '../../../src/app/serve/serve-controller.ts';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import {
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  type KindInfo,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { BreakingProxy } from '../../../packages/kube/test/fakes/breaking-proxy.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { binding, cluster, clusterSet, namespace, placement } from '../../app/serve/fleet-fixture.ts';
import {
  type ApplicationSetController,
  startApplicationSetController,
} from '../peers/applicationset-controller.ts';
import {
  APP_PROJECT,
  APPLICATION,
  APPLICATION_SET,
  ARGO_NAMESPACE,
  clusterSecret,
  inArgo,
  installArgo,
  PROJECT,
  SECRET,
} from './argo-installation.ts';
import type { SharedHub } from '../peers/shared-hubs.ts';
import { PluginRelay } from './plugin-relay.ts';

export const TOKENS = {
  teamA: 'a-token-of-team-a-in-the-test',
  teamB: 'a-token-of-team-b-in-the-test',
};
export const CLUSTERS = ['c1', 'c2', 'c3', 'c4'] as const;

/** What the controller did with an ApplicationSet when it was asked to look at it again. */
export interface Reconciled {
  readonly outcome: 'done' | 'failed';
  /** Of the condition ErrorOccurred; '' where it is not True. */
  readonly error: string;
}

const TOKEN_FILE = `tokens:
- {name: team-a, token: ${TOKENS.teamA}, namespaces: [team-a]}
- {name: team-b, token: ${TOKENS.teamB}, namespaces: [team-b]}
`;

/** A hub, Argo CD's ApplicationSet controller, Berth, and a relay between them. */
export class GeneratorWorld {
  readonly api: KubeApi;
  readonly relay = new PluginRelay();
  /** Between Berth and the hub. */
  readonly way: BreakingProxy;
  /** Berth's. */
  readonly clock = new SteeredClock();
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-generators-'));
  relayUrl = '';
  controller: ApplicationSetController = { log: () => '', stop: () => Promise.resolve() };
  readonly #hub: SharedHub;
  readonly #kubeconfig: string;
  #berth: { readonly running: RunningController; readonly api: HttpKubeApi } | undefined;
  #refreshes = 0;

  private constructor(hub: SharedHub) {
    this.#hub = hub;
    this.#kubeconfig = readFileSync(hub.kubeconfig, 'utf8');
    this.api = hub.api;
    this.way = new BreakingProxy(Number(PORT.exec(this.#kubeconfig)?.[2]), () => 1);
  }

  /** With the clusters c1 to c4, which Argo CD knows, and the placement `web` of all of them in `team-a`. */
  static async start(hub: SharedHub): Promise<GeneratorWorld> {
    const world = new GeneratorWorld(hub);
    try {
      await installArgo(world.api);
      await world.#prepareFleet();
      world.relayUrl = await world.relay.listen();
      await world.way.listen().then((port) => (world.#port = port));
      writeFileSync(join(world.dir, 'tokens.yaml'), TOKEN_FILE);
      await world.serve();
      world.controller = await startApplicationSetController(world.dir, hub.kubeconfig);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }
  #port = 0;

  async close(): Promise<void> {
    await this.controller.stop();
    await this.stopBerth();
    await this.relay.close();
    await this.way.close();
    await this.#hub.close();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /**
   * Berth, in this process, behind the relay.
   * @param over `dataDir` is kept from one start to the next
   */
  async serve(over: Partial<ServeOptions> = {}): Promise<RunningController> {
    const text = this.#kubeconfig.replace(PORT, `$1${this.#port}`);
    const api = new HttpKubeApi({ config: loadKubeConfig({ text }), clock: systemClock });
    const running = await serveController({
      api,
      sources: [],
      dataDir: join(this.dir, 'data'),
      clock: this.clock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: process.env,
      http: { host: '127.0.0.1', port: 0, tokenFile: join(this.dir, 'tokens.yaml') },
      ...over,
    });
    this.#berth = { running, api };
    this.relay.target = running.url ?? '';
    return running;
  }

  async stopBerth(): Promise<void> {
    const berth = this.#berth;
    this.#berth = undefined;
    this.relay.target = '';
    await berth?.running.close();
    berth?.api.close();
  }

  readonly create = async (kind: KindInfo, object: object): Promise<void> => {
    await this.api.create(kind, object as KubeObject);
  };

  readonly patch = async (
    kind: KindInfo,
    name: string,
    patch: object,
    ns = ARGO_NAMESPACE,
  ): Promise<void> => {
    await this.api.mergePatch(kind, { namespace: kind.namespaced ? ns : '', name }, patch);
  };

  readonly remove = async (kind: KindInfo, name: string, ns = ARGO_NAMESPACE): Promise<void> => {
    await this.api.delete(kind, { namespace: kind.namespaced ? ns : '', name });
  };

  /**
   * Has the controller look at the ApplicationSet now, and waits until it did. A look that is under way when it is asked
   * may take the request for its own: the controller reads the object again after it has asked the generators (3.6.1,
   * setApplicationSetStatusCondition). A test of what a change leads to polls.
   */
  async refresh(name: string): Promise<Reconciled> {
    const failures = this.#failures(name).length;
    const annotations = { [REFRESH]: `${(this.#refreshes += 1)}` };
    await this.patch(APPLICATION_SET, name, { metadata: { annotations } });
    let found: Reconciled | undefined;
    await until(async () => {
      const set = await this.#set(name);
      const failed = this.#failures(name).slice(failures).at(-1);
      const error = errorOf(set);
      if (set.metadata.annotations?.[REFRESH] === undefined) found = { outcome: 'done', error };
      // The condition follows the log.
      else if (failed !== undefined && error !== '' && failed.endsWith(error))
        found = { outcome: 'failed', error };
      expect(found).toBeDefined();
    });
    return found as Reconciled;
  }

  /** The errors by which the controller gave up looking at the ApplicationSet. */
  #failures(name: string): readonly string[] {
    return this.controller
      .log()
      .split('\n')
      .filter(
        (line) => line.includes('"unable to generate applications: ') && line.includes(`"Name":"${name}"`),
      )
      .map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
  }

  /** The Applications of the ApplicationSet: name to uid. */
  async applications(set: string): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries(
      (await this.applicationObjects(set)).map(({ metadata: { name, uid } }) => [name, uid ?? '']),
    );
  }

  async applicationObjects(set: string): Promise<readonly KubeObject[]> {
    const { items } = await this.api.list(APPLICATION, { namespace: ARGO_NAMESPACE });
    return items.filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        metadata.ownerReferences?.some(({ name }) => name === set) === true,
    );
  }

  /** The clusters on the pages of a placement. */
  async published(name: string, ns: string): Promise<readonly string[]> {
    const labelSelector = `cluster.open-cluster-management.io/placement=${name}`;
    const { items } = await this.api.list(PLACEMENT_DECISION, { namespace: ns, labelSelector });
    return items
      .flatMap(
        ({ status }) => (status as { decisions?: { clusterName: string }[] } | undefined)?.decisions ?? [],
      )
      .map(({ clusterName }) => clusterName)
      .sort();
  }

  async heldCode(name: string, ns: string): Promise<string> {
    let code: string | undefined;
    await expect
      .poll(async () => {
        const found = await this.api.get(PLACEMENT, { namespace: ns, name });
        const { conditions = [] } = (found?.['status'] ?? {}) as { conditions?: readonly Condition[] };
        const held = conditions.find(({ type, status }) => type === 'berth.dev/Held' && status === 'True');
        code = /\b[0-9a-f]{12}\b/.exec(held?.message ?? '')?.[0];
        return code;
      })
      .toBeDefined();
    return code ?? '';
  }

  async #set(name: string): Promise<KubeObject> {
    const found = await this.api.get(APPLICATION_SET, { namespace: ARGO_NAMESPACE, name });
    if (found === undefined) throw new Error(`no ApplicationSet ${name}`);
    return found;
  }

  async #prepareFleet(): Promise<void> {
    for (const name of ['team-a', 'team-b']) await this.create(NAMESPACE, namespace(name));
    for (const kind of [APP_PROJECT, APPLICATION_SET, APPLICATION]) await until(() => this.api.list(kind));
    await this.create(APP_PROJECT, PROJECT);
    await this.create(MANAGED_CLUSTER_SET, clusterSet);
    for (const ns of ['team-a', 'team-b', ARGO_NAMESPACE])
      await this.create(MANAGED_CLUSTER_SET_BINDING, binding(ns));
    for (const name of CLUSTERS) {
      await this.create(MANAGED_CLUSTER, cluster(name, { labels: { region: 'eu', name } }));
      await this.create(SECRET, clusterSecret(name));
    }
    await this.create(
      SECRET,
      inArgo('v1', 'Secret', 'berth-plugin', { stringData: { token: TOKENS.teamA } }),
    );
  }

  /** A placement of Berth's; on a hub that is not embedded it decides only those with its annotation. */
  async place(name: string, ns: string, clusters: readonly string[] = CLUSTERS): Promise<void> {
    const annotations = { 'berth.dev/scheduler': 'berth' };
    await this.create(PLACEMENT, placement(name, selecting(clusters), annotations, ns));
    await until(async () => expect(await this.published(name, ns)).toEqual([...clusters]));
  }

  async choose(name: string, ns: string, clusters: readonly string[]): Promise<void> {
    await this.patch(PLACEMENT, name, { spec: selecting(clusters) }, ns);
  }

  /** The ConfigMap of the plugin generator; `over` changes or adds keys. */
  async connect(name: string, over: Readonly<Record<string, string>> = {}): Promise<void> {
    const data = { baseUrl: this.relayUrl, token: '$berth-plugin:token', requestTimeout: '5', ...over };
    await this.create(CONFIG_MAP, inArgo('v1', 'ConfigMap', name, { data }));
  }

  /** An ApplicationSet whose Applications are called `NAME-CLUSTER`. */
  async applicationSet(name: string, generators: readonly object[], spec: object = {}): Promise<void> {
    await this.create(APPLICATION_SET, {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ApplicationSet',
      metadata: { name, namespace: ARGO_NAMESPACE },
      spec: {
        goTemplate: true,
        // Otherwise an Application stays until Argo CD's application controller has removed what it made.
        syncPolicy: { preserveResourcesOnDeletion: true },
        generators,
        template: template(`${name}-{{ .clusterName }}`, '{{ .name }}'),
        ...spec,
      },
    });
  }
}

/** Waits until it throws no more; also before and after tests. */
export async function until(what: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + OUTAGE_PATIENCE_MS;
  for (;;) {
    try {
      await what();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    // fixed wait: the pace of a poll
    await pause(POLL_MS);
  }
}

const POLL_MS = 100;
export const REFRESH = 'argocd.argoproj.io/application-set-refresh';
const PORT = /(server: "?https:\/\/[^:]+:|"server":"https:\/\/[^:]+:)(\d+)/;

/** The spec of a placement that selects these clusters by their label. */
export function selecting(clusters: readonly string[]): object {
  const values = clusters.length === 0 ? ['nobody'] : [...clusters];
  const matchExpressions = [{ key: 'name', operator: 'In', values }];
  return {
    predicates: [{ requiredClusterSelector: { labelSelector: { matchExpressions } } }],
    tolerations: ['unreachable', 'unavailable'].map((taint) => ({
      key: `cluster.open-cluster-management.io/${taint}`,
      operator: 'Exists',
    })),
  };
}

export function template(name: string, destination: string, more: object = {}): object {
  return {
    metadata: { name, ...more },
    spec: {
      project: 'default',
      source: { repoURL: 'https://git.example.org/apps.git', targetRevision: 'main', path: 'web' },
      destination: { name: destination, namespace: 'web' },
    },
  };
}

function errorOf({ status }: KubeObject): string {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly Condition[] };
  const error = conditions.find(({ type }) => type === 'ErrorOccurred');
  return error?.status === 'True' ? error.message : '';
}
