import { compareText } from '@berth/runtime/text/compare-text';
import { ConflictError, errorText } from '@berth/runtime/errors';

/** Further placements are only counted. */
const MAX_NAMED = 10;

/** Placements whose decision could not be written, until it is written. */
export class PublishProblems {
  readonly #failed = new Map<string, string>();

  /** A conflict is not a problem: the placement is read and written again immediately. */
  failed(placement: string, error: unknown): void {
    if (!(error instanceof ConflictError)) this.#failed.set(placement, errorText(error));
  }

  succeeded(placement: string): void {
    this.#failed.delete(placement);
  }

  warnings(): readonly string[] {
    const named = [...this.#failed].sort(([a], [b]) => compareText(a, b)).slice(0, MAX_NAMED);
    const more = this.#failed.size - named.length;
    return [
      ...named.map(([placement, text]) => `the decision of placement ${placement} is not published: ${text}`),
      ...(more > 0 ? [`the decisions of ${more} more placements are not published`] : []),
    ];
  }
}
