import type { ManifestLimits } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedFiles } from '../parsing/parsed-files.ts';
import type { KeptCommit } from './read-commit.ts';

export interface SourceReaderOptions {
  /** Globs of manifests. Absent or empty: every YAML and JSON file. */
  readonly paths?: readonly string[] | undefined;
  readonly limits?: ManifestLimits | undefined;
  /**
   * Replaces a broken file by its last good version. Off for checks and previews, which show the
   * commit itself.
   */
  readonly keepLastGood?: boolean | undefined;
  /** Where the last completely read commit is stored across restarts. */
  readonly lastComplete?: LastCompleteStore | undefined;
  /** Cache of parsed files, for later readers or over restarts. */
  readonly cache?: ParsedFiles | undefined;
  /** What an earlier reader of the same repository, paths and limits kept. Absent: nothing. */
  readonly start?: KeptCommit | undefined;
  /** Threads that parse if many files are new. */
  readonly pool?: ParsePool | undefined;
  /** The environment of the process, to find kubectl for kustomizations. Absent: kustomizations are refused. */
  readonly ambient?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface LastCompleteStore {
  readonly load: () => Promise<string | undefined>;
  readonly store: (commit: string) => Promise<void>;
}
