import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { sha256 } from '@berth/runtime/sha256';
import { APP_PROJECT, APPLICATION, APPLICATION_SET, asApplication } from '../../core/argocd/argocd-kinds.ts';
import { mayDeployTo } from '../../core/argocd/project-destinations.ts';
import { hostingSet } from '../../core/argocd/pull/pull-target.ts';
import { decisionUses } from '../../core/argocd/refresh/decision-use.ts';
import { seenDecisions } from '../../core/argocd/refresh/seen-digest.ts';
import { applicationsByCluster } from '../../core/argocd/waves/cluster-health.ts';
import { type ApplicationView, noPlaceNote, type OpenPlan } from '../../core/dashboard/application-view.ts';
import type {
  PublishedPlacement,
  PublishedPlacements,
} from '../../core/publish/pages/published-placements.ts';
import type { HubInventory } from '../inventory/hub-inventory.ts';
import { DecisionView } from '../publication/decision-view.ts';
import type { DashboardReader } from './dashboard-reader.ts';

export interface ApplicationReaderOptions {
  readonly api: KubeApi;
  readonly inventory: HubInventory;
  readonly published: PublishedPlacements;
  readonly reader: Pick<DashboardReader, 'place'>;
  /** The namespace of Argo CD. */
  readonly argocdNamespace: string;
  readonly openPlans: () => Promise<readonly OpenPlan[]>;
}

/** What Argo CD asks about: it has checked that its user may `get` this Application, and that it is of this project. */
export interface AskedApplication {
  readonly namespace: string;
  readonly name: string;
  readonly project: string;
  /** Whether the token of Argo CD may read a placement. */
  readonly mayRead: (placement: PublishedPlacement) => boolean;
}

/** Finds the placements that put an Application on its cluster. */
export class ApplicationReader {
  readonly #options: ApplicationReaderOptions;
  readonly #pages: DecisionView;

  constructor(options: ApplicationReaderOptions) {
    this.#options = options;
    this.#pages = new DecisionView(options.inventory.decisions.store);
  }

  /**
   * @returns undefined if there is no such Application
   * @throws the errors of the hub
   */
  async read(asked: AskedApplication): Promise<ApplicationView | undefined> {
    const { api, inventory, reader, openPlans } = this.#options;
    const { namespace, name, project } = asked;
    const found = await api.get(APPLICATION, { namespace, name });
    if (found === undefined || (found['spec'] as { readonly project?: string })?.project !== project)
      return undefined;
    const clusters = inventory.clusters.store.list() as unknown as readonly ManagedCluster[];
    const { byCluster } = applicationsByCluster([asApplication(found)], () => clusters);
    const [cluster] = byCluster.keys();
    const { set, read } = await this.#readBy(found.metadata, asked);
    const here = read.filter(({ groups }) =>
      groups.some(({ decisions }) => decisions.some(({ clusterName }) => clusterName === cluster)),
    );
    const isPermitted = mayDeployTo(
      here.length === 0
        ? undefined
        : await api.get(APP_PROJECT, { namespace: this.#options.argocdNamespace, name: project }),
    );
    const visible = new Set(clusters.filter(isPermitted).map(({ metadata }) => metadata.name));
    const shown = {
      isVisible: (one: string) => one === cluster || visible.has(one),
      open: await openPlans(),
    };
    const places = await Promise.all(
      here.map(({ placement }) => {
        const [space = '', own = ''] = placement.split('/');
        return reader.place({ namespace: space, name: own }, cluster ?? '', shown);
      }),
    );
    const application = `${namespace}/${name}`;
    const known = places.filter((place) => place !== undefined);
    const names = read.map(({ placement }) => placement);
    return {
      ...{ application, cluster, places: known },
      note: known.length > 0 ? '' : noPlaceNote(application, { set, cluster, read: names }),
    };
  }

  /**
   * The published placements that the ApplicationSet of an Application reads. Anybody may name a placement in an ApplicationSet of
   * his own, so it must be one of the placement's namespace, or of Argo CD's, which belongs to its administrators.
   */
  async #readBy(
    metadata: Parameters<typeof hostingSet>[0],
    { namespace, mayRead }: AskedApplication,
  ): Promise<{ readonly set: string | undefined; readonly read: readonly PublishedPlacement[] }> {
    const { api, published, argocdNamespace } = this.#options;
    const set = hostingSet(metadata);
    const object =
      set === undefined
        ? undefined
        : await api.get(APPLICATION_SET, { namespace, name: set.slice(namespace.length + 1) });
    const isOwner = metadata.ownerReferences?.some(({ uid }) => uid === object?.metadata.uid) === true;
    if (object === undefined || !isOwner) return { set: undefined, read: [] };
    const uses = decisionUses(object['spec']);
    const names = new Set(uses.map(({ configMap }) => configMap));
    const { placements } = seenDecisions(uses, published.list(), {
      // A ConfigMap of another program would name no published placement.
      configs: { plugins: names, decisionResources: names },
      ...{ argocdNamespace, digest: sha256 },
      pagesOf: (placement) => this.#pages.pagesOf(placement).map((page) => page.metadata),
    });
    const read = placements
      .filter((one) => namespace === argocdNamespace || one.startsWith(`${namespace}/`))
      .flatMap((one) => published.get(one) ?? [])
      .filter(mayRead);
    return { set: namespacedName(object.metadata), read };
  }
}
