import { BugError } from '@berth/runtime/errors';
import { apiVersionOf, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import {
  type Placement,
  type PlacementStatus,
  SCHEDULING_DISABLE_ANNOTATION,
} from '@berth/ocm/kind/placement';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/names-on-placements';
import { pageLabels } from '../../core/publish/pages/decision-page.ts';
import type { PlacementAction } from '../../core/publish/machine/state/placement-event.ts';
import type { PageAction } from '../../core/publish/pages/plan-pages.ts';
import { objectAfterWrite, METADATA_ONLY } from './hub-records.ts';
import { isKeptByNamespace, type PageOwners } from './page-owners.ts';

const FENCE_ANNOTATION = 'berth.dev/fence';

type ActionOf<K extends PlacementAction['kind']> = Extract<PlacementAction, { kind: K }>;

/**
 * The requests that publish to the hub. Each write has the version that it was planned on as its
 * precondition. All methods throw the errors of the API: ConflictError if that version is outdated,
 * TransientError if the hub did not respond, and InputError if it refuses the request.
 */
export class PageRequests {
  readonly #api: KubeApi;
  readonly #owners: Pick<PageOwners, 'of'>;

  constructor(api: KubeApi, owners: Pick<PageOwners, 'of'>) {
    this.#api = api;
    this.#owners = owners;
  }

  /** The pages that carry the label of the placement. */
  async list({ metadata: { namespace = '', name } }: Placement): Promise<readonly KubeObject[]> {
    const labelSelector = `${PLACEMENT_LABEL}=${name}`;
    return (await this.#api.list(PLACEMENT_DECISION, { namespace, labelSelector })).items;
  }

  /** Changes the version of the page, so that the hub refuses an earlier write whose outcome is unknown. */
  fence(page: KubeObject): Promise<KubeObject> {
    return this.#patchMetadata(page, { annotations: { [FENCE_ANNOTATION]: page.metadata.resourceVersion } });
  }

  /** @returns the page after the write; undefined if it was deleted */
  async write({ placement, write, before }: ActionOf<'write-page'>): Promise<KubeObject | undefined> {
    if (write.kind === 'create') {
      const page = newPage(placement, write, await this.#owners.of(placement));
      return objectAfterWrite(await this.#api.create(PLACEMENT_DECISION, page, METADATA_ONLY), page, {});
    }
    if (before === undefined)
      throw new BugError('the plan writes to a page that does not exist', {
        code: 'publish.page',
        subject: write.page,
      });
    switch (write.kind) {
      case 'label': {
        const labels = pageLabels(placement.metadata.name, write.group);
        return this.#patchMetadata(before, { labels, ownerReferences: await this.#owners.of(placement) });
      }
      case 'write': {
        const status = { decisions: write.decisions };
        const patch = { metadata: versionOf(before), status };
        const options = { ...METADATA_ONLY, subresource: 'status' } as const;
        const response = await this.#api.mergePatch(PLACEMENT_DECISION, keyOf(before), patch, options);
        return objectAfterWrite(response, before, { status });
      }
      case 'delete':
        await this.#api.delete(PLACEMENT_DECISION, keyOf(before), versionOf(before));
        return undefined;
    }
  }

  /** Deletes the pages of a placement that no longer exists, which the namespace still owns. */
  async deleteKept(pages: readonly KubeObject[]): Promise<void> {
    for (const page of pages)
      if (isKeptByNamespace(page)) await this.#api.delete(PLACEMENT_DECISION, keyOf(page), versionOf(page));
  }

  async patchStatus(placement: Placement, status: PlacementStatus): Promise<KubeObject> {
    const before = placement as unknown as KubeObject;
    const patch = { metadata: versionOf(before), status };
    const options = { ...METADATA_ONLY, subresource: 'status' } as const;
    const response = await this.#api.mergePatch(PLACEMENT, keyOf(before), patch, options);
    return objectAfterWrite(response, before, { status });
  }

  /** Annotates the placement as scheduled by Berth, which also keeps OCM's scheduler away from it. */
  async annotate(placement: Placement): Promise<KubeObject> {
    const before = placement as unknown as KubeObject;
    const annotations = { [SCHEDULING_DISABLE_ANNOTATION]: 'true', [SCHEDULER_ANNOTATION]: 'berth' };
    const patch = { metadata: { ...versionOf(before), annotations } };
    const response = await this.#api.mergePatch(PLACEMENT, keyOf(before), patch, METADATA_ONLY);
    return objectAfterWrite(response, before, {});
  }

  async #patchMetadata(before: KubeObject, changed: object): Promise<KubeObject> {
    const patch = { metadata: { ...versionOf(before), ...changed } };
    const response = await this.#api.mergePatch(PLACEMENT_DECISION, keyOf(before), patch, METADATA_ONLY);
    return objectAfterWrite(response, before, {});
  }
}

function versionOf({ metadata: { uid, resourceVersion } }: KubeObject) {
  return { uid, resourceVersion };
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): { namespace: string; name: string } {
  return { namespace, name };
}

function newPage(
  placement: Placement,
  action: PageAction & { readonly kind: 'create' },
  ownerReferences: readonly OwnerReference[],
): KubeObject {
  return {
    apiVersion: apiVersionOf(PLACEMENT_DECISION),
    kind: PLACEMENT_DECISION.kind,
    metadata: {
      name: action.page,
      namespace: placement.metadata.namespace,
      labels: pageLabels(placement.metadata.name, action.group),
      ownerReferences,
    },
  };
}
