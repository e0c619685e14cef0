import type { SourceEvent } from './source-events.ts';

/**
 * Whether a commit is being applied to the hub, as the sources report. Its changes are then decided
 * first.
 */
export class CommitsInProgress {
  readonly #sources = new Set<string>();

  handle({ kind, source }: Pick<SourceEvent, 'kind' | 'source'>): void {
    if (kind === 'fetched' || kind === 'read') this.#sources.add(source);
    else if (kind === 'followed') this.#sources.delete(source);
  }

  get areAny(): boolean {
    return this.#sources.size > 0;
  }
}
