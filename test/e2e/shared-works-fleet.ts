import type { HttpKubeApi } from '@berth/kube/http-kube-api';
import { MANIFEST_WORK, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { expect } from 'vitest';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { binding, clusterSet, namespace, placement, retired, yaml } from '../app/serve/fleet-fixture.ts';
import { ControllerProcess } from './controller-process.ts';

/** Of a share, as `berth serve` logs it. */
const SHARES = /"held":\[([^\]]*)\],"shares":12,"processes":(\d+)/g;
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
/** One placement does not depend on what the others select. */
const STEADY_ONLY = {
  mode: 'Exact',
  configurations: [{ scoreCoordinate: { type: 'BuiltIn', builtIn: 'Steady' }, weight: 1 }],
};
/** Short, so that a test of many deaths is short. */
const TIMING = [
  ...['--leader-elect-lease-duration', '6s', '--leader-elect-renew-deadline', '4s'],
  ...['--leader-elect-retry-period', '1s'],
];

/** Namespaces with a placement and a replica set each, and controllers that share the works of them. */
export class SharedWorksFleet {
  readonly git = new GitFixture();
  readonly controllers: ControllerProcess[] = [];
  readonly #api: HttpKubeApi;
  readonly #kubeconfig: string;
  readonly #namespaces: readonly string[];
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  /** Works that were deleted, as `namespace/name`, since somebody looked last. */
  readonly deleted: string[] = [];

  constructor(api: HttpKubeApi, kubeconfig: string, namespaces: number) {
    this.#api = api;
    this.#kubeconfig = kubeconfig;
    this.#namespaces = Array.from({ length: namespaces }, (_, at) => `team-${at}`);
  }

  /** @param text what each work deploys; @param clusters how many clusters each placement selects */
  commit(text: string, clusters: number): void {
    const teams = this.#namespaces.flatMap((team) => [
      namespace(team),
      binding(team),
      placement('web', { numberOfClusters: clusters, prioritizerPolicy: STEADY_ONLY }, {}, team),
      replicaSetOf(team, text),
    ]);
    this.git.commit({
      'clusters.yaml': `${retired(0)}---\n${yaml(clusterSet, ...CLUSTERS.map(namespace))}`,
      'teams.yaml': yaml(...teams),
    });
  }

  start(...flags: readonly string[]): ControllerProcess {
    const controller = new ControllerProcess([
      ...['--repo', this.git.path, '--kubeconfig', this.#kubeconfig, '--share-works', '--poll', '200ms'],
      ...['--removal-budget', '100%', ...TIMING, ...flags],
    ]);
    this.controllers.push(controller);
    return controller;
  }

  /** Starts those again that ended: one that led ends some time after it finds that another one leads. */
  #restartEnded(): void {
    for (const controller of this.controllers) if (!controller.runs) controller.start();
  }

  /** The shares of each controller as it logged them last. */
  shares(): readonly (readonly number[])[] {
    return this.controllers.map(({ log }) => {
      const held = [...log.matchAll(SHARES)].at(-1)?.[1] ?? '';
      return held === '' ? [] : held.split(',').map(Number);
    });
  }

  /** Each share has one writer, and no controller has more than its part. */
  async untilShared(): Promise<void> {
    const most = Math.ceil(12 / this.controllers.length);
    const shared = () => {
      this.#restartEnded();
      const shares = this.shares();
      return { all: shares.flat().sort((a, b) => a - b), most: Math.max(...shares.map((of) => of.length)) };
    };
    await expect
      .poll(shared, { timeout: OUTAGE_PATIENCE_MS })
      .toEqual({ all: Array.from({ length: 12 }, (_, at) => at), most });
  }

  /** Follows what is deleted on the hub, as somebody outside sees it. */
  async watchDeletions(): Promise<void> {
    let { resourceVersion } = await this.#api.list(MANIFEST_WORK);
    const { signal } = this.#stop;
    this.#watching = (async () => {
      while (!signal.aborted)
        for await (const event of this.#api.watch(MANIFEST_WORK, { resourceVersion, signal })) {
          if (event.type === 'deleted') this.deleted.push(nameOf(event.object));
          resourceVersion =
            event.type === 'bookmark'
              ? event.resourceVersion
              : (event.object.metadata.resourceVersion ?? resourceVersion);
        }
    })();
  }

  /** The works of the hub are exactly those of the commit. */
  async untilDone(text: string, clusters: number): Promise<void> {
    const wanted = { works: this.#namespaces.length * clusters, texts: [text], elsewhere: [] };
    await expect.poll(() => this.#summary(), { timeout: OUTAGE_PATIENCE_MS }).toEqual(wanted);
  }

  /** What the works deploy, and which of them are where no page sends them. */
  async #summary(): Promise<object> {
    const [works, pages] = await Promise.all([
      this.#api.list(MANIFEST_WORK),
      this.#api.list(PLACEMENT_DECISION),
    ]);
    const selected = new Set(
      pages.items.flatMap((page) =>
        clustersOf(page).map((cluster) => `${page.metadata.namespace} on ${cluster}`),
      ),
    );
    const texts = works.items.map((work) => (work['spec'] as WorkSpec).workload.manifests[0]?.data.text);
    const places = works.items.map((work) => `${ownerOf(work)} on ${work.metadata.namespace}`);
    return {
      works: new Set(places).size,
      texts: [...new Set(texts)],
      elsewhere: places.filter((place) => !selected.has(place)),
    };
  }

  /** Identities of the works. */
  async uids(): Promise<ReadonlySet<string>> {
    const { items } = await this.#api.list(MANIFEST_WORK);
    return new Set(items.map(({ metadata }) => metadata.uid ?? ''));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    await Promise.all(this.controllers.map((controller) => controller.remove()));
    this.git.remove();
  }
}

function replicaSetOf(team: string, text: string): object {
  const manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm', namespace: team },
    data: { text },
  };
  return {
    apiVersion: 'work.open-cluster-management.io/v1alpha1',
    kind: 'ManifestWorkReplicaSet',
    metadata: { name: 'web', namespace: team },
    spec: {
      manifestWorkTemplate: { workload: { manifests: [manifest] } },
      placementRefs: [{ name: 'web' }],
    },
  };
}

interface WorkSpec {
  readonly workload: { readonly manifests: readonly { readonly data: { readonly text: string } }[] };
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** The namespace of the replica set of a work; its label is `NAMESPACE.NAME`. */
const ownerOf = ({ metadata }: KubeObject): string =>
  (metadata.labels?.[REPLICA_SET_LABEL] ?? '').split('.')[0] ?? '';

function clustersOf(page: KubeObject): readonly string[] {
  const { decisions = [] } = (page['status'] ?? {}) as { decisions?: readonly { clusterName: string }[] };
  return decisions.map(({ clusterName }) => clusterName);
}
