import type { KubeObject } from '@berth/kube/model/object-meta';
import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { pageLabels, placementOfPage } from '../../../src/core/publish/pages/decision-page.ts';
import type { PlacementAction } from '../../../src/core/publish/machine/state/placement-event.ts';

export const KEY = 'team-a/web';
const GROUP_INDEX = 'cluster.open-cluster-management.io/decision-group-index';
const PLACEMENT_LABEL = 'cluster.open-cluster-management.io/placement';

export type HubRequest = Extract<
  PlacementAction,
  { kind: 'read-pages' | 'fence-page' | 'write-page' | 'patch-status' | 'annotate-placement' }
>;

export interface HubChange {
  readonly kind: 'page' | 'placement';
  /** Of a page. */
  readonly name: string;
  readonly after: KubeObject | undefined;
}

interface Backup {
  readonly version: number;
  readonly placement: Placement | undefined;
  readonly pages: ReadonlyMap<string, KubeObject>;
}

/** What somebody other than a controller does to a page. */
export type Hand = 'delete' | 'empty' | 'cut' | 'add' | 'unlabel' | 'give-away' | 'touch';
export const HANDS: readonly Hand[] = ['delete', 'empty', 'cut', 'add', 'unlabel', 'give-away', 'touch'];

/** A hub with one placement and its pages. Every write names the version that it was planned on. */
export class ModelHub {
  placement: Placement | undefined;
  pages: ReadonlyMap<string, KubeObject> = new Map();
  writes = 0;
  onChange: (change: HubChange) => void = () => undefined;
  #version = 100;
  #uid = 0;

  get version(): number {
    return this.#version;
  }

  /** Clusters on the pages of the placement. */
  listed(): readonly string[] {
    return [...this.pages.values()].filter((page) => placementOfPage(page) === KEY).flatMap(clustersOf);
  }

  /** Whether each page says its group, and lists no cluster of another page. */
  isClear(): boolean {
    const pages = [...this.pages.values()].filter((page) => placementOfPage(page) === KEY);
    const isLabelled = pages.every(({ metadata }) => metadata.labels?.[GROUP_INDEX] !== '');
    const listed = this.listed();
    return isLabelled && new Set(listed).size === listed.length;
  }

  /**
   * Carries a write out.
   * @throws Error when the object has another version, or none
   */
  write(request: Exclude<HubRequest, { kind: 'read-pages' }>): KubeObject | undefined {
    this.writes += 1;
    switch (request.kind) {
      case 'patch-status': {
        const { placement, status } = request;
        this.#check(placement as unknown as KubeObject, this.placement as unknown as KubeObject);
        return this.putPlacement({ ...(this.placement ?? placement), status }) as unknown as KubeObject;
      }
      case 'annotate-placement': {
        const { placement } = request;
        this.#check(placement as unknown as KubeObject, this.placement as unknown as KubeObject);
        const { metadata, ...rest } = this.placement ?? placement;
        const annotations = { ...metadata.annotations, [SCHEDULING_DISABLE_ANNOTATION]: 'true' };
        return this.putPlacement({
          ...rest,
          metadata: { ...metadata, annotations },
        }) as unknown as KubeObject;
      }
      case 'fence-page': {
        const page = this.pages.get(request.page.metadata.name);
        return this.#put(this.#check(request.page, page));
      }
      case 'write-page':
        return this.#writePage(request);
    }
  }

  putPlacement(placement: Placement): Placement {
    const metadata = { ...placement.metadata, resourceVersion: this.#next() };
    this.placement = { ...placement, metadata };
    this.onChange({ kind: 'placement', name: '', after: this.placement as unknown as KubeObject });
    return this.placement;
  }

  createPlacement(
    numberOfClusters: number,
    annotations: Readonly<Record<string, string>>,
    nowMs: number,
  ): void {
    const creationTimestamp = new Date(nowMs).toISOString();
    const uid = `placement-${++this.#uid}`;
    const metadata = { name: 'web', namespace: 'team-a', uid, generation: 1, annotations, creationTimestamp };
    const apiVersion = 'cluster.open-cluster-management.io/v1beta1';
    this.putPlacement({ apiVersion, kind: 'Placement', metadata, spec: { numberOfClusters } });
  }

  deletePlacement(): void {
    this.#version += 1;
    this.placement = undefined;
    this.onChange({ kind: 'placement', name: '', after: undefined });
  }

  /** Deletes a page whose owner is gone. */
  collectGarbage(): boolean {
    const uid = this.placement?.metadata.uid;
    const isOrphan = ({ metadata }: KubeObject): boolean =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid) !== true;
    const page = [...this.pages.values()].find(isOrphan);
    if (page !== undefined) this.#delete(page.metadata.name);
    return page !== undefined;
  }

  /** @param at any number; it picks one of the pages */
  disturb(hand: Hand, at: number): void {
    const page = [...this.pages.values()][at % Math.max(1, this.pages.size)];
    if (page === undefined) return;
    const { metadata } = page;
    const decisions = (page['status'] as { decisions?: readonly object[] } | undefined)?.decisions ?? [];
    const relabelled = (key: string, value: string) => ({
      ...page,
      metadata: { ...metadata, labels: { ...metadata.labels, [key]: value } },
    });
    switch (hand) {
      case 'delete':
        return this.#delete(metadata.name);
      case 'empty':
        return void this.#put({ ...page, status: { decisions: [] } });
      case 'cut':
        return void this.#put({ ...page, status: { decisions: decisions.slice(1) } });
      case 'add':
        return void this.#put({
          ...page,
          status: { decisions: [...decisions, { clusterName: 'stranger', reason: '' }] },
        });
      case 'unlabel':
        return void this.#put(relabelled(GROUP_INDEX, ''));
      case 'give-away':
        return void this.#put(relabelled(PLACEMENT_LABEL, 'other'));
      case 'touch':
        return void this.#put({ ...page });
    }
  }

  backup(): Backup {
    return { version: this.#version, placement: this.placement, pages: this.pages };
  }

  /** Versions that were given once are given again. No watch shows it: watchers list again. */
  restore({ version, placement, pages }: Backup): void {
    [this.#version, this.placement, this.pages] = [version, placement, pages];
  }

  #writePage({
    write,
    before,
    placement,
  }: Extract<HubRequest, { kind: 'write-page' }>): KubeObject | undefined {
    const page = this.pages.get(write.page);
    const { name, uid = '' } = placement.metadata;
    const owner = { apiVersion: placement.apiVersion, kind: 'Placement', name, uid };
    if (write.kind === 'create') {
      if (page !== undefined) throw new Error('already exists');
      const labels = pageLabels(name, write.group);
      const metadata = {
        name: write.page,
        namespace: 'team-a',
        uid: `page-${++this.#uid}`,
        labels,
        ownerReferences: [owner],
      };
      return this.#put({ apiVersion: placement.apiVersion, kind: 'PlacementDecision', metadata });
    }
    const now = this.#check(before, page);
    if (write.kind === 'write') return this.#put({ ...now, status: { decisions: write.decisions } });
    if (write.kind === 'delete') return void this.#delete(write.page);
    const labels = { ...now.metadata.labels, ...pageLabels(name, write.group) };
    return this.#put({ ...now, metadata: { ...now.metadata, labels, ownerReferences: [owner] } });
  }

  #check(planned: KubeObject | undefined, now: KubeObject | undefined): KubeObject {
    const [a, b] = [planned?.metadata, now?.metadata];
    if (now === undefined || a?.uid !== b?.uid || a?.resourceVersion !== b?.resourceVersion)
      throw new Error('conflict');
    return now;
  }

  #put(page: KubeObject): KubeObject {
    const after = { ...page, metadata: { ...page.metadata, resourceVersion: this.#next() } };
    this.pages = new Map(this.pages).set(page.metadata.name, after);
    this.onChange({ kind: 'page', name: page.metadata.name, after });
    return after;
  }

  #delete(name: string): void {
    this.#version += 1;
    const pages = new Map(this.pages);
    pages.delete(name);
    this.pages = pages;
    this.onChange({ kind: 'page', name, after: undefined });
  }

  #next(): string {
    return String(++this.#version);
  }
}

export function clustersOf(page: KubeObject): readonly string[] {
  const status = page['status'] as { decisions?: readonly { clusterName: string }[] } | undefined;
  return (status?.decisions ?? []).map(({ clusterName }) => clusterName);
}
