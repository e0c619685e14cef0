import { type KindInfo, PLACEMENT_DECISION } from '../../../src/core/model/kinds.ts';
import type { KubeObject } from '../../../src/core/model/object-meta.ts';
import type { ListOptions, ObjectList, WatchEvent, WatchOptions } from '../../../src/core/ports.ts';
import { decisionPageOf, publishedClusters } from '../../../src/core/publish/pages/decision-page.ts';
import { InterceptedKubeApi } from '../../fakes/intercepted-kube-api.ts';

/** A client of the hub that notes which page it showed, counts writes of works, and whose writes of clusters wait until they are let through. */
export class WaitingKubeApi extends InterceptedKubeApi {
  release: () => void = () => undefined;
  worksWritten = 0;
  /** The clusters of the page that a list or a watch showed last. */
  shown: readonly string[] = [];
  #gate: Promise<void> | undefined;

  #decisions: Promise<void> | undefined;
  showDecisions: () => void = () => undefined;

  /** The watch of decisions shows nothing until `showDecisions` is called. Lists do. */
  hideDecisions(): void {
    this.#decisions = new Promise((resolve) => (this.showDecisions = resolve));
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
      if ('object' in event) this.#note(kind, event.object);
      yield event;
    }
  }

  #note(kind: KindInfo, object: KubeObject): void {
    if (kind.plural === PLACEMENT_DECISION.plural)
      this.shown = publishedClusters([decisionPageOf(object, '')]);
  }

  protected override async write<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (right === 'patch managedclusters') await this.#gate;
    if (right.endsWith(' manifestworks')) this.worksWritten += 1;
    return request();
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
