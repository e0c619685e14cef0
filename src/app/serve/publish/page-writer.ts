import { BugError, TransientError } from '../../../core/errors.ts';
import { PLACEMENT, PLACEMENT_DECISION } from '../../../core/model/kinds.ts';
import { apiVersionOf } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Placement } from '../../../core/model/placement.ts';
import { PLACEMENT_LABEL } from '../../../core/model/placement-decision.ts';
import type { KubeApi } from '../../../core/ports.ts';
import { pageLabels } from '../../../core/publish/decision-page.ts';
import type { PageAction } from '../../../core/publish/plan-pages.ts';
import { answeredObject, METADATA_ANSWER } from './answered-object.ts';
import type { DecisionView } from './decision-view.ts';

const FENCE_ANNOTATION = 'berth.dev/fence';

/**
 * Carries out page actions. Every write carries the version it was planned on. A write that may or may not have happened makes its
 * page suspect: before anything else is planned, the page's version is changed, so that the lost write cannot arrive late.
 */
export class PageWriter {
  readonly #api: KubeApi;
  readonly #view: DecisionView;
  readonly #suspects = new Map<string, Set<string>>();
  readonly #unsure = new Set<string>();

  constructor(api: KubeApi, view: DecisionView) {
    this.#api = api;
    this.#view = view;
  }

  /** The placement's pages: from the watch, or read anew and fenced after a failure. */
  async pagesOf(placementKey: string, namespace: string, name: string): Promise<readonly KubeObject[]> {
    if (!this.#unsure.has(placementKey)) return this.#view.pagesOf(placementKey);
    this.#view.forget(placementKey);
    const labelSelector = `${PLACEMENT_LABEL}=${name}`;
    const { items } = await this.#api.list(PLACEMENT_DECISION, { namespace, labelSelector });
    return Promise.all(items.map((page) => this.#fence(placementKey, page)));
  }

  /** @throws what the API throws; the remaining actions are then not tried. */
  async carryOut(
    placement: Placement,
    pages: readonly KubeObject[],
    actions: readonly PageAction[],
  ): Promise<void> {
    const key = `${placement.metadata.namespace ?? ''}/${placement.metadata.name}`;
    const known = new Map(pages.map((page) => [page.metadata.name, page]));
    for (const action of actions) {
      const before = known.get(action.page);
      try {
        const after = await this.#send(placement, action, before);
        this.#view.wrote(before, after);
        if (after === undefined) known.delete(action.page);
        else known.set(action.page, after);
      } catch (error) {
        this.#unsure.add(key);
        if (error instanceof TransientError) this.#suspect(key, action.page);
        throw error;
      }
    }
    if (actions.length === 0 && sameVersions(pages, this.#view.pagesOf(key))) this.#unsure.delete(key);
  }

  async #send(
    placement: Placement,
    action: PageAction,
    before: KubeObject | undefined,
  ): Promise<KubeObject | undefined> {
    if (action.kind === 'create') {
      const page = newPage(placement, action);
      return answeredObject(await this.#api.create(PLACEMENT_DECISION, page, METADATA_ANSWER), page, {});
    }
    if (before === undefined)
      throw new BugError('the plan writes to a page that is not there', {
        code: 'publish.page',
        subject: action.page,
      });
    switch (action.kind) {
      case 'label': {
        const labels = pageLabels(placement.metadata.name, action.group);
        return this.#patchMetadata(before, { labels, ownerReferences: [ownerReference(placement)] });
      }
      case 'write': {
        const status = { decisions: action.decisions };
        const { uid, resourceVersion } = before.metadata;
        const patch = { metadata: { uid, resourceVersion }, status };
        const options = { ...METADATA_ANSWER, subresource: 'status' } as const;
        const answer = await this.#api.mergePatch(PLACEMENT_DECISION, keyOf(before), patch, options);
        return answeredObject(answer, before, { status });
      }
      case 'delete': {
        const { uid, resourceVersion } = before.metadata;
        await this.#api.delete(PLACEMENT_DECISION, keyOf(before), { uid, resourceVersion });
        return undefined;
      }
    }
  }

  async #patchMetadata(before: KubeObject, changed: object): Promise<KubeObject> {
    const { uid, resourceVersion } = before.metadata;
    const patch = { metadata: { uid, resourceVersion, ...changed } };
    const answer = await this.#api.mergePatch(PLACEMENT_DECISION, keyOf(before), patch, METADATA_ANSWER);
    return answeredObject(answer, before, {});
  }

  #suspect(placementKey: string, page: string): void {
    const suspects = this.#suspects.get(placementKey) ?? new Set();
    suspects.add(page);
    this.#suspects.set(placementKey, suspects);
  }

  async #fence(placementKey: string, page: KubeObject): Promise<KubeObject> {
    const { name, resourceVersion } = page.metadata;
    if (this.#suspects.get(placementKey)?.has(name) !== true) return page;
    const annotations = { [FENCE_ANNOTATION]: resourceVersion };
    const fenced = await this.#patchMetadata(page, { annotations });
    this.#suspects.get(placementKey)?.delete(name);
    return fenced;
  }
}

/** The watch has caught up with what was read: its pages can be planned on again. */
function sameVersions(a: readonly KubeObject[], b: readonly KubeObject[]): boolean {
  const versions = (pages: readonly KubeObject[]): string =>
    JSON.stringify(pages.map(({ metadata }) => [metadata.name, metadata.resourceVersion]).sort());
  return versions(a) === versions(b);
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): { namespace: string; name: string } {
  return { namespace, name };
}

function newPage(placement: Placement, action: PageAction & { readonly kind: 'create' }): KubeObject {
  return {
    apiVersion: apiVersionOf(PLACEMENT_DECISION),
    kind: PLACEMENT_DECISION.kind,
    metadata: {
      name: action.page,
      namespace: placement.metadata.namespace,
      labels: pageLabels(placement.metadata.name, action.group),
      ownerReferences: [ownerReference(placement)],
    },
  };
}

function ownerReference(placement: Placement) {
  const { name, uid = '' } = placement.metadata;
  return {
    apiVersion: apiVersionOf(PLACEMENT),
    kind: PLACEMENT.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
