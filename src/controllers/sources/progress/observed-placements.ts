import { PLACEMENT } from '../../../core/model/kinds.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { Subscribers } from '../../../runtime/subscribers.ts';
import type { SourceEvent } from './source-events.ts';

/**
 * The placements that sources of `sync: observe` declare. Another tool applies them, without the mark that makes a
 * placement Berth's.
 */
export class ObservedPlacements {
  readonly #sources: ReadonlySet<string>;
  /** `namespace/name` by source. */
  readonly #placements = new Map<string, ReadonlySet<string>>();
  readonly #changes = new Subscribers<string>();

  /** @param sources the names of those that are observed */
  constructor(sources: readonly string[]) {
    this.#sources = new Set(sources);
  }

  take(event: SourceEvent): void {
    if (event.kind !== 'read' || !this.#sources.has(event.source)) return;
    const { objects, complete } = event.content;
    const before = this.#placements.get(event.source) ?? new Set();
    const now = new Set(complete ? [] : before);
    for (const { object } of objects)
      if (object.kind === PLACEMENT.kind) now.add(namespacedName(object.metadata));
    this.#placements.set(event.source, now);
    for (const key of now) if (!before.has(key)) void this.#changes.tell(key);
  }

  /** @param key `namespace/name` */
  has(key: string): boolean {
    for (const placements of this.#placements.values()) if (placements.has(key)) return true;
    return false;
  }

  /** A placement is declared for the first time. */
  onChange(listener: (key: string) => void): void {
    this.#changes.subscribe(listener);
  }
}
