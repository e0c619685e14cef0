import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { type RunningController, serveController } from '../../../src/app/serve/serve-controller.ts';
import type { Application } from '../../../src/core/argocd/argocd-kinds.ts';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import {
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import { binding, cluster, clusterSet, namespace, placement } from '../../app/serve/fleet-fixture.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import {
  APP_PROJECT,
  APPLICATION,
  APPLICATION_SET,
  clusterSecret,
  inArgo,
  installArgo,
  PROJECT,
  ROLE,
  ROLE_BINDING,
  SECRET,
} from '../argocd/argo-installation.ts';
import {
  type ApplicationSetController,
  startApplicationSetController,
} from '../peers/applicationset-controller.ts';
import type { SharedHub } from '../peers/shared-hubs.ts';
import { Member, OWN_CLUSTER, served } from './member.ts';
import type { AgentKind } from './member-agents.ts';

const OCM = 'cluster.open-cluster-management.io';
const APPS = 'apps.open-cluster-management.io';
const UNREACHABLE = { key: `${OCM}/unreachable`, effect: 'NoSelect' };
const RBAC = 'rbac.authorization.k8s.io';

/** A hub with the real ApplicationSet controller and Berth; two members with an Argo CD of their own; a Git repository. */
export class PullWorld {
  readonly members: Readonly<Record<'east' | 'west', Member>>;
  readonly #hub: SharedHub;
  readonly #dir: string;
  readonly #controller: ApplicationSetController;
  readonly #berth: RunningController;

  private constructor(parts: {
    readonly hub: SharedHub;
    readonly dir: string;
    readonly members: Readonly<Record<'east' | 'west', Member>>;
    readonly controller: ApplicationSetController;
    readonly berth: RunningController;
  }) {
    this.#hub = parts.hub;
    this.#dir = parts.dir;
    this.members = parts.members;
    this.#controller = parts.controller;
    this.#berth = parts.berth;
  }

  static async start(hub: SharedHub, agents: AgentKind): Promise<PullWorld> {
    const dir = mkdtempSync(join(tmpdir(), 'berth-pull-'));
    await prepareHub(hub.api);
    const berth = await serveController({
      api: hub.api,
      sources: [],
      dataDir: join(dir, 'data'),
      clock: systemClock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: process.env,
      argocd: {
        namespace: 'argocd',
        refresh: false,
        clusterSecrets: false,
        pull: true,
        pluginConfigMaps: [],
        clusterLabels: [],
      },
    });
    const [east, west] = await Promise.all(
      ['east', 'west'].map((name) => Member.start(name, hub, agents, dir)),
    );
    // Progressive syncs are off in a stock installation.
    process.env['ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_PROGRESSIVE_SYNCS'] = 'true';
    const controller = await startApplicationSetController(dir, hub.kubeconfig);
    if (east === undefined || west === undefined) throw new Error('a member is missing');
    return new PullWorld({ hub, dir, members: { east, west }, controller, berth });
  }

  async stop(): Promise<void> {
    await this.#controller.stop();
    await Promise.all(Object.values(this.members).map((member) => member.stop()));
    await this.#berth.close();
    await this.#hub.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /**
   * A commit of one ConfigMap.
   * @returns its id
   */
  commit(greeting: string): string {
    const repository = this.#repository;
    mkdirSync(repository, { recursive: true });
    execFileSync('git', ['init', '-q', '-b', 'main', repository]);
    const words = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'words' },
      data: { greeting },
    };
    writeFileSync(join(repository, 'words.json'), JSON.stringify(words));
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
    execFileSync('git', ['-C', repository, 'add', '-A']);
    execFileSync('git', ['-C', repository, ...author, 'commit', '-q', '-m', greeting]);
    return execFileSync('git', ['-C', repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  }

  get #repository(): string {
    return join(this.#dir, 'repository');
  }

  async createSet(): Promise<void> {
    const clusterDecisionResource = {
      configMapRef: 'placements',
      labelSelector: { matchLabels: { [`${OCM}/placement`]: 'shop' } },
      requeueAfterSeconds: 2,
    };
    await this.#create('shop', {
      generators: [{ clusterDecisionResource }],
      template: this.#template('shop'),
    });
  }

  #template(name: string) {
    return {
      metadata: {
        name: `${name}-{{name}}`,
        labels: { [`${APPS}/pull-to-ocm-managed-cluster`]: 'true' },
        annotations: {
          [`${APPS}/ocm-managed-cluster`]: '{{name}}',
          [`${APPS}/destination-name`]: OWN_CLUSTER,
          'argocd.argoproj.io/skip-reconcile': 'true',
        },
      },
      spec: {
        project: 'default',
        source: { repoURL: `file://${this.#repository}`, path: '.', targetRevision: 'main' },
        destination: { name: '{{name}}', namespace: name },
        syncPolicy: {
          automated: { prune: true, selfHeal: true },
          syncOptions: ['CreateNamespace=true'],
        },
      },
    };
  }

  async #create(name: string, spec: object): Promise<void> {
    const set = inArgo('argoproj.io/v1alpha1', 'ApplicationSet', name, { spec });
    await this.#hub.api.create(APPLICATION_SET, set);
  }

  /** One copy at a time, from now on. */
  async limitCopies(): Promise<void> {
    const metadata = { annotations: { 'berth.dev/max-copies': '1' } };
    const patch = { spec: { template: { metadata } } };
    await this.#hub.api.mergePatch(APPLICATION_SET, { namespace: 'argocd', name: 'shop' }, patch);
  }

  /** An ApplicationSet for both clusters, which its controller syncs one after the other: east, then west. */
  async createRollingSet(): Promise<void> {
    const elements = ['east', 'west'].map((name) => ({ name }));
    const steps = elements.map(({ name }) => ({
      matchExpressions: [{ key: 'wave', operator: 'In', values: [name] }],
    }));
    const template = this.#template('rolling');
    const labels = { ...template.metadata.labels, wave: '{{name}}' };
    const spec = {
      generators: [{ list: { elements } }],
      strategy: { type: 'RollingSync', rollingSync: { steps } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    };
    await this.#create('rolling', spec);
  }

  /** Application to what the ApplicationSet controller says of its step. */
  async rollout(name: string): Promise<Readonly<Record<string, string>>> {
    const set = await this.#hub.api.get(APPLICATION_SET, { namespace: 'argocd', name });
    const { applicationStatus = [] } = (set?.['status'] ?? {}) as {
      applicationStatus?: readonly { readonly application: string; readonly status: string }[];
    };
    return Object.fromEntries(applicationStatus.map(({ application, status }) => [application, status]));
  }

  application(name: string): Promise<Application | undefined> {
    return this.#hub.api.get(APPLICATION, { namespace: 'argocd', name });
  }

  async status(name: string): Promise<object> {
    const status = (await this.application(name))?.status;
    return {
      health: status?.health?.status,
      sync: status?.sync?.status,
      revision: status?.sync?.revision,
      conditions: status?.conditions?.map(({ type }) => type) ?? [],
    };
  }

  /** Works on the hub: the cluster, and whether it was told to remove it. */
  async works(): Promise<Readonly<Record<string, 'carried' | 'removed'>>> {
    const { items } = await this.#hub.api.list(MANIFEST_WORK);
    const works = items as unknown as readonly ManifestWork[];
    return Object.fromEntries(
      works.map(({ metadata }) => [
        metadata.namespace ?? '',
        metadata.deletionTimestamp === undefined ? 'carried' : 'removed',
      ]),
    );
  }

  /** The cluster no longer reaches the hub, and OCM’s registration controller notices. */
  async cutOff(name: 'east' | 'west'): Promise<void> {
    await this.members[name].cutOff();
    await this.#notice(name, 'Unknown', [UNREACHABLE]);
  }

  async reconnect(name: 'east' | 'west'): Promise<void> {
    await this.members[name].connect();
    await this.#notice(name, 'True', []);
  }

  /** The cluster may be chosen again, while it still does not reach the hub. */
  async #notice(name: string, available: string, taints: readonly object[]): Promise<void> {
    const conditions = [
      {
        type: 'ManagedClusterConditionAvailable',
        status: available,
        reason: 'Test',
        message: '',
        lastTransitionTime: new Date().toISOString(),
      },
    ];
    const key = { namespace: '', name };
    await this.#hub.api.mergePatch(MANAGED_CLUSTER, key, { spec: { taints } });
    const options = { subresource: 'status' } as const;
    await this.#hub.api.mergePatch(MANAGED_CLUSTER, key, { status: { conditions } }, options);
  }
}

/** Kinds, clusters, a placement of one cluster, and what the ApplicationSet controller needs to read its decisions. */
async function prepareHub(api: KubeApi): Promise<void> {
  await installArgo(api);
  await api.create(NAMESPACE, namespace('berth-system'));
  await served(api);
  while (
    !(await api.list(APPLICATION_SET).then(
      () => true,
      () => false,
    ))
  );
  await api.create(APP_PROJECT, PROJECT);
  await api.create(MANAGED_CLUSTER_SET, clusterSet);
  await api.create(MANAGED_CLUSTER_SET_BINDING, binding('argocd'));
  for (const name of ['east', 'west']) {
    await api.create(NAMESPACE, namespace(name));
    await api.create(MANAGED_CLUSTER, cluster(name));
    await api.create(SECRET, clusterSecret(name));
  }
  const data = {
    apiVersion: `${OCM}/v1beta1`,
    kind: 'placementdecisions',
    statusListKey: 'decisions',
    matchKey: 'clusterName',
  };
  await api.create(CONFIG_MAP, inArgo('v1', 'ConfigMap', 'placements', { data }));
  const rules = [{ apiGroups: [OCM], resources: ['placementdecisions'], verbs: ['list'] }];
  await api.create(ROLE, inArgo(`${RBAC}/v1`, 'Role', 'placements', { rules }));
  await api.create(
    ROLE_BINDING,
    inArgo(`${RBAC}/v1`, 'RoleBinding', 'placements', {
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'placements' },
      subjects: [{ kind: 'ServiceAccount', name: 'argocd-applicationset-controller', namespace: 'argocd' }],
    }),
  );
  const annotations = { 'berth.dev/scheduler': 'berth' };
  await api.create(PLACEMENT, placement('shop', { numberOfClusters: 1 }, annotations, 'argocd'));
}
