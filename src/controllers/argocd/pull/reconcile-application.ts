import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { formatRef, namespacedName } from '@berth/kube/model/object-ref';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { BerthError, InputError } from '@berth/runtime/errors';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import pLimit from 'p-limit';
import { type Application, APPLICATION } from '../../../core/argocd/argocd-kinds.ts';
import { planPull, type PulledWorkWritten, type PullPlan } from '../../../core/argocd/pull/plan-pull.ts';
import { planApplicationStatus, pullConditions } from '../../../core/argocd/pull/plan-status.ts';
import {
  FROM_SET_LABEL,
  hostingSet,
  hostingSetOfWork,
  hubApplicationOf,
  MAX_COPIES_ANNOTATION,
  PULL_LABEL,
  removalGroup,
} from '../../../core/argocd/pull/pull-target.ts';
import { readPullFeedback } from '../../../core/argocd/pull/read-pull-feedback.ts';
import { withRefreshTime } from '../../../core/argocd/pull/refresh-request.ts';
import { unconfirmedCopies } from '../../../core/argocd/pull/judge-removals.ts';
import { confirmTakesWork, type MissingNamespaces } from '../../inventory/cluster-namespaces.ts';
import {
  type HeldRemovals,
  PULL_FIELD_MANAGER,
  type PullInventory,
  type PullOptions,
} from './pull-inventory.ts';

export interface ApplicationReconcilerOptions extends Pick<PullOptions, 'hub' | 'clock' | 'onWrite'> {
  readonly namespaces: MissingNamespaces;
  readonly inventory: PullInventory;
  readonly held: HeldRemovals;
  /** Called when works of this group may have to be removed. */
  readonly onLeaving: (group: string) => void;
}

/**
 * `resources-finalizer.argocd.argoproj.io`, also with /background or /foreground. Argo CD on the hub never removes it,
 * because it does not reconcile Applications that clusters pull.
 */
const ARGO_FINALIZER = /^resources-finalizer\.argocd\.argoproj\.io(\/(background|foreground))?$/;
/** The deletion event normally comes sooner. This covers a lost one. */
const COPY_RECHECK_MS = 30_000;

/**
 * One pass over one Application on the hub: its work, its finalizer, its status. `removeWorks` decides about removals,
 * for whole groups.
 */
export class ApplicationReconciler {
  readonly #options: ApplicationReconcilerOptions;
  readonly #copies: CopyLimit;
  /** Applications that wait until other copies are removed, and the clusters that hold those copies. */
  readonly #waiting = new Map<string, readonly string[]>();

  constructor(options: ApplicationReconcilerOptions) {
    this.#options = options;
    this.#copies = new CopyLimit(options.hub);
  }

  /** Keys of Applications that wait until other copies are removed. */
  get waiting(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { inventory, clock, onLeaving } = this.#options;
    const works = inventory.worksOf(key);
    const live = inventory.application(key);
    const application = live && withRefreshTime(live, works, clock.now());
    const plan = planPull({ application, works, takesWork: (name) => inventory.takesWork(name) });
    for (const { work } of plan.leaving) onLeaving(removalGroup(work) ?? '');
    if (application === undefined) {
      this.#waiting.delete(key);
      return DONE;
    }
    if (plan.mayFinalize) {
      this.#waiting.delete(key);
      await this.#finalize(application);
      return DONE;
    }
    const afterMs = await this.#write(key, application, plan);
    await this.#report(key, application, plan, works);
    if (afterMs !== undefined) return { kind: 'requeue', afterMs };
    return this.#waiting.has(key) ? { kind: 'requeue', afterMs: COPY_RECHECK_MS } : DONE;
  }

  /** @returns milliseconds until the next try, if the cluster has no namespace */
  async #write(
    key: string,
    application: Application,
    { write, cluster = '' }: PullPlan,
  ): Promise<number | undefined> {
    const { hub, namespaces } = this.#options;
    let afterMs: number | undefined;
    if (write.type === 'create') {
      const make = async (): Promise<void> => {
        afterMs = await namespaces.make(cluster, () => this.#create(key, write.work));
      };
      const waitsFor = await this.#copies.create(application, cluster, make);
      if (waitsFor !== undefined) {
        this.#waiting.set(key, waitsFor);
        return undefined;
      }
    }
    this.#waiting.delete(key);
    if (write.type !== 'update') return afterMs;
    await hub.update(MANIFEST_WORK, { ...write.work }, PULL_FIELD_MANAGER);
    this.#emit('updated', key, write.work);
    return undefined;
  }

  async #create(key: string, work: ManifestWork): Promise<void> {
    // The event of the cluster starts the next pass.
    if (!(await confirmTakesWork(this.#options.hub, work.metadata.namespace ?? ''))) return;
    try {
      await this.#options.hub.create(MANIFEST_WORK, work as never, PULL_FIELD_MANAGER);
      this.#emit('created', key, work);
    } catch (error) {
      if (!(error instanceof BerthError) || error.code !== 'kube.alreadyexists') throw error;
      await this.#requireOwnWork(key, work, error);
    }
  }

  /** An existing work is accepted if it carries this Application: it was just created. */
  async #requireOwnWork(key: string, { metadata }: ManifestWork, cause: BerthError): Promise<void> {
    const { namespace = '', name } = metadata;
    const live = await this.#options.hub.get(MANIFEST_WORK, { namespace, name });
    if (live === undefined || hubApplicationOf(live) === key) return;
    throw new InputError('a ManifestWork of this name exists and does not carry the Application', {
      code: 'pull.name-taken',
      subject: `ManifestWork ${namespace}/${name}`,
      hint: `delete it: Application ${key} needs the name`,
      cause,
    });
  }

  async #finalize({ metadata }: Application): Promise<void> {
    const { namespace = '', name, uid, resourceVersion, finalizers = [] } = metadata;
    const kept = finalizers.filter((finalizer) => !ARGO_FINALIZER.test(finalizer));
    if (kept.length === finalizers.length) return;
    const patch = { metadata: { uid, resourceVersion, finalizers: kept } };
    await this.#options.hub.mergePatch(APPLICATION, { namespace, name }, patch, PULL_FIELD_MANAGER);
  }

  async #report(
    key: string,
    application: Application,
    { cluster }: PullPlan,
    works: readonly ManifestWork[],
  ): Promise<void> {
    const { inventory, held, hub } = this.#options;
    const live = works.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const work = live.find(({ metadata }) => metadata.namespace === cluster) ?? live[0];
    // No cluster pulls it, and none did.
    if (cluster === undefined && work === undefined) return;
    const where = cluster ?? work?.metadata.namespace ?? '';
    const feedback = readPullFeedback(work);
    const conditions = pullConditions({
      cluster: where,
      managedCluster: inventory.cluster(where),
      work,
      feedback,
      unconfirmed: this.#unconfirmed(work),
      waitsFor: this.#waiting.get(key),
      held: held.messageOf(key),
    });
    const patch = planApplicationStatus(application, work, feedback, conditions);
    if (patch === undefined) return;
    const { namespace = '', name, uid, resourceVersion } = application.metadata;
    // With a precondition, because another operation or refresh may have been requested meanwhile and must be kept.
    const removes = patch.operation === null || patch.metadata !== undefined;
    const metadata = { ...patch.metadata, uid, ...(removes && { resourceVersion }) };
    await hub.mergePatch(APPLICATION, { namespace, name }, { ...patch, metadata }, PULL_FIELD_MANAGER);
  }

  #unconfirmed(work: ManifestWork | undefined): readonly string[] {
    const { inventory } = this.#options;
    const group = work === undefined ? undefined : removalGroup(work);
    if (work === undefined || group === undefined) return [];
    return unconfirmedCopies(work, inventory.worksOfGroup(group), (cluster) =>
      inventory.isUnreachable(cluster),
    );
  }

  #emit(action: PulledWorkWritten['action'], application: string, { metadata }: ManifestWork): void {
    const { namespace: cluster = '', name } = metadata;
    this.#options.onWrite?.({ action, application, cluster, work: name });
  }
}

/**
 * Keeps an Application from a cluster while as many other clusters hold a copy as its annotation allows. A cluster
 * counts until it has confirmed that its copy is removed. The works are read from the hub, and only one creation runs
 * at a time.
 */
class CopyLimit {
  readonly #hub: Pick<KubeApi, 'list'>;
  readonly #oneAtATime = pLimit(1);

  constructor(hub: Pick<KubeApi, 'list'>) {
    this.#hub = hub;
  }

  /**
   * Calls `create` unless too many clusters hold a copy.
   * @returns the clusters that hold one; undefined if the work was created
   * @throws InputError for an annotation that is not a positive whole number
   */
  async create(
    application: Application,
    cluster: string,
    create: () => Promise<void>,
  ): Promise<readonly string[] | undefined> {
    const limit = maxCopies(application);
    if (limit === undefined) {
      await create();
      return undefined;
    }
    return this.#oneAtATime(async () => {
      const others = await this.#clustersOf(application, cluster);
      if (others.length >= limit) return others;
      await create();
      return undefined;
    });
  }

  async #clustersOf({ metadata }: Application, cluster: string): Promise<readonly string[]> {
    const set = hostingSet(metadata);
    const labelSelector = set === undefined ? PULL_LABEL : `${FROM_SET_LABEL}=true`;
    const { items } = await this.#hub.list(MANIFEST_WORK, { labelSelector });
    const copies = (items as unknown as readonly ManifestWork[]).filter((work) =>
      set === undefined
        ? hubApplicationOf(work) === namespacedName(metadata)
        : hostingSetOfWork(work) === set,
    );
    const clusters = new Set(copies.map(({ metadata: { namespace = '' } }) => namespace));
    clusters.delete(cluster);
    return [...clusters].sort();
  }
}

function maxCopies({ metadata }: Application): number | undefined {
  const text = metadata.annotations?.[MAX_COPIES_ANNOTATION];
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InputError(
    `the annotation ${MAX_COPIES_ANNOTATION} is ${JSON.stringify(text)}, expected a number from 1`,
    {
      code: 'pull.max-copies',
      subject: formatRef({
        kind: 'Application',
        namespace: metadata.namespace ?? '',
        name: metadata.name,
      }),
    },
  );
}
