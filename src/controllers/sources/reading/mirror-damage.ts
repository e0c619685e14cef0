import { TransientError } from '@berth/runtime/errors';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { SourceContent } from '../manifests/source-content.ts';

/**
 * Detects objects that are missing in a mirror while commits are read, and makes the mirror fetch again, once for each
 * commit.
 */
export class MirrorDamage {
  readonly #mirrorDir: string;
  #isFound = false;
  /**
   * The commit that was last fetched again; objects that are still missing are not on the remote
   * either.
   */
  #refetched: string | undefined;

  constructor(mirrorDir: string) {
    this.#mirrorDir = mirrorDir;
  }

  get isFound(): boolean {
    return this.#isFound;
  }

  /** Called when a fetch that repairs known damage brought this commit. */
  fetched(commit: string): void {
    if (this.#isFound) this.#refetched = commit;
    this.#isFound = false;
  }

  /**
   * Calls `read` for a commit.
   * @param isFetched whether the commit was fetched; then missing objects are an error, after which
   * it is fetched again
   */
  async watch(
    commit: string,
    isFetched: boolean,
    read: () => Promise<SourceContent>,
  ): Promise<SourceContent> {
    try {
      const content = await read();
      if (isFetched && commit !== this.#refetched) this.#requireBlobs(content);
      return content;
    } catch (error) {
      this.#isFound =
        commit !== this.#refetched && error instanceof TransientError && error.code === 'git.corrupt';
      throw error;
    }
  }

  #requireBlobs({ problems }: SourceContent): void {
    const missing = problems.find(({ code }) => code === 'git.missing-blob');
    if (missing === undefined) return;
    const place = missing.location === undefined ? '' : `${formatLocation(missing.location)}: `;
    const details = { code: 'git.corrupt', subject: `Git mirror ${this.#mirrorDir}` };
    throw new TransientError(`${place}${missing.message}`, details);
  }
}
