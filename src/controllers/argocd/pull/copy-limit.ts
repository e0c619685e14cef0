import pLimit from 'p-limit';
import { InputError } from '@berth/runtime/errors';
import { FROM_SET_LABEL, MAX_COPIES_ANNOTATION, PULL_LABEL } from '../../../core/argocd/pull/pull-keys.ts';
import { hostingSet, hostingSetOfWork, hubApplicationOf } from '../../../core/argocd/pull/pull-target.ts';
import type { Application } from '../../../core/argocd/argo-application.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { formatRef, namespacedName } from '@berth/kube/model/object-ref';
import type { KubeApi } from '@berth/kube/model/kube-api';

/**
 * Keeps an Application from a cluster while as many other clusters hold a copy as its annotation allows. A cluster
 * counts until it has confirmed that its copy is removed. The works are read from the hub, and only one creation runs
 * at a time.
 */
export class CopyLimit {
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
