import { PLACEMENT } from '../../../core/model/kinds.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { Subscribers } from '../../../runtime/subscribers.ts';
import type { SourceEvent } from './source-events.ts';

/** The placements that sources declare, as far as these were read. */
export class DeclaredPlacements {
  readonly #sources: ReadonlySet<string>;
  /** `namespace/name` by source. */
  readonly #placements = new Map<string, ReadonlySet<string>>();
  /** Sources of which a file could not be read. */
  readonly #incomplete = new Set<string>();
  readonly #changes = new Subscribers<string>();

  /** @param sources their names; those of others do not count */
  constructor(sources: readonly string[]) {
    this.#sources = new Set(sources);
  }

  take(event: SourceEvent): void {
    if (event.kind !== 'read' || !this.#sources.has(event.source)) return;
    const { objects, complete } = event.content;
    const before = this.#placements.get(event.source) ?? new Set();
    const now = new Set(complete ? [] : before);
    for (const { object } of objects)
      if (object.kind === PLACEMENT.kind)
        now.add(namespacedName({ namespace: 'default', ...object.metadata }));
    this.#placements.set(event.source, now);
    if (complete) this.#incomplete.delete(event.source);
    else this.#incomplete.add(event.source);
    for (const key of now) if (!before.has(key)) void this.#changes.tell(key);
    for (const key of before) if (!now.has(key)) void this.#changes.tell(key);
  }

  /** @param key `namespace/name` */
  has(key: string): boolean {
    for (const placements of this.#placements.values()) if (placements.has(key)) return true;
    return false;
  }

  /** Whether no source declares it. False as long as a source was not read, or not wholly. @param key `namespace/name` */
  isMissing(key: string): boolean {
    return this.#placements.size === this.#sources.size && this.#incomplete.size === 0 && !this.has(key);
  }

  /** A placement is declared now, or not any more. */
  onChange(listener: (key: string) => void): void {
    this.#changes.subscribe(listener);
  }
}
