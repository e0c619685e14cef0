import { TransientError } from '@berth/runtime/errors';
import { type KindInfo, MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ListOptions, ObjectList, WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import type { Placement } from '@berth/ocm/kind/placement';
import { decisionPageOf, publishedClusters } from '../../../src/core/publish/pages/decision-page.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';

/** A client of the hub that notes which page it showed, counts writes of works, and whose writes of clusters wait until they are let through. */
export class WaitingKubeApi extends InterceptedKubeApi {
  release: () => void = () => undefined;
  worksWritten = 0;
  /** The clusters of the page that a list or a watch showed last. */
  shown: readonly string[] = [];
  /** How many clusters the status of the placement counted that a list or a watch showed last. */
  counted = 0;
  #gate: Promise<void> | undefined;

  /** Patches of the status of replica sets fail, as if the hub did not respond. */
  failStatus = false;
  #worksAreHidden = false;
  #decisions: Promise<void> | undefined;
  showDecisions: () => void = () => undefined;

  /** The watch of decisions shows nothing until `showDecisions` is called. Lists do. */
  hideDecisions(): void {
    this.#decisions = new Promise((resolve) => (this.showDecisions = resolve));
  }

  /** Watches of works show nothing any more. Lists do. */
  hideWorks(): void {
    this.#worksAreHidden = true;
  }

  hold(): void {
    this.#gate = new Promise((resolve) => (this.release = resolve));
  }

  override async list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    const answer = await super.list(kind, options);
    for (const item of answer.items) this.#note(kind, item);
    return answer;
  }

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncIterable<WatchEvent> {
    for await (const event of super.watch(kind, options)) {
      if (kind.plural === PLACEMENT_DECISION.plural && this.#decisions !== undefined)
        await Promise.race([this.#decisions, ended(options.signal)]);
      if (options.signal.aborted) return;
      if (kind.plural === MANIFEST_WORK.plural && this.#worksAreHidden) continue;
      if ('object' in event) this.#note(kind, event.object);
      yield event;
    }
  }

  #note(kind: KindInfo, object: KubeObject): void {
    if (kind.plural === PLACEMENT_DECISION.plural)
      this.shown = publishedClusters([decisionPageOf(object, '')]);
    if (kind.plural === PLACEMENT.plural)
      this.counted = (object as unknown as Placement).status?.numberOfSelectedClusters ?? 0;
  }

  protected override async write<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (right === 'patch managedclusters') await this.#gate;
    if (right === 'patch manifestworkreplicasets/status' && this.failStatus)
      throw new TransientError('no response', { code: 'kube.network', subject: 'hub' });
    if (right.endsWith(' manifestworks')) this.worksWritten += 1;
    return request();
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
