import { PLACEMENT } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import { Subscribers } from '@berth/runtime/loop/subscribers';
import type { SourceContent } from '../manifests/source-content.ts';
import type { SourceEvent } from './source-events.ts';

/** The placements that sources declare, as far as the sources have been read. */
export class DeclaredPlacements {
  readonly #sources: ReadonlySet<string>;
  /** `namespace/name` by source. */
  readonly #placements = new Map<string, Set<string>>();
  /** Sources with a file that could not be read. */
  readonly #incomplete = new Set<string>();
  /**
   * Placements that a source deleted. Such a placement counts as missing until a source declares it again, even if a
   * file of another source cannot be read.
   */
  readonly #deleted = new Set<string>();
  readonly #changes = new Subscribers<string>();

  /** @param sources names of the sources; events of others are ignored */
  constructor(sources: readonly string[]) {
    this.#sources = new Set(sources);
  }

  handle(event: SourceEvent): void {
    if (!this.#sources.has(event.source)) return;
    if (event.kind === 'read') this.#read(event.source, event.content);
    else if (event.kind === 'deleted' && event.object.kind === PLACEMENT.kind)
      this.#lost(namespacedName(event.object.metadata));
  }

  #lost(key: string): void {
    this.#deleted.add(key);
    for (const placements of this.#placements.values()) placements.delete(key);
    void this.#changes.emit(key);
  }

  #read(source: string, { objects, complete }: SourceContent): void {
    const before = this.#placements.get(source) ?? new Set();
    const now = new Set(complete ? [] : before);
    for (const { object } of objects)
      if (object.kind === PLACEMENT.kind)
        now.add(namespacedName({ namespace: 'default', ...object.metadata }));
    this.#placements.set(source, now);
    for (const key of now) this.#deleted.delete(key);
    if (complete) this.#incomplete.delete(source);
    else this.#incomplete.add(source);
    for (const key of now) if (!before.has(key)) void this.#changes.emit(key);
    for (const key of before) if (!now.has(key)) void this.#changes.emit(key);
  }

  /** @param key `namespace/name` */
  has(key: string): boolean {
    for (const placements of this.#placements.values()) if (placements.has(key)) return true;
    return false;
  }

  /**
   * Whether no source declares it. False while a source is unread or incomplete, unless a source deleted the placement.
   * @param key `namespace/name`
   */
  isMissing(key: string): boolean {
    if (this.#deleted.has(key)) return true;
    return this.#placements.size === this.#sources.size && this.#incomplete.size === 0 && !this.has(key);
  }

  /** Called when a placement is declared or no longer declared. */
  onChange(listener: (key: string) => void): void {
    this.#changes.subscribe(listener);
  }
}
