import type { ManifestLimits } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedCache } from '../parsing/parsed-cache.ts';

export interface SourceReaderOptions {
  /** Globs of manifests; none: every YAML and JSON file. */
  readonly paths?: readonly string[] | undefined;
  readonly limits?: ManifestLimits | undefined;
  /**
   * Replaces a broken file by its last good version. Off for checks and previews, which show the
   * commit itself.
   */
  readonly keepLastGood?: boolean | undefined;
  /** Where the last commit that could be read completely is remembered across restarts. */
  readonly lastComplete?: LastCompleteStore | undefined;
  /** Cache of parsed files over restarts. */
  readonly cache?: ParsedCache | undefined;
  /** Threads that parse when many files are new. */
  readonly pool?: ParsePool | undefined;
  /** The process's environment: where to find kubectl, for kustomizations. Absent: they are refused. */
  readonly ambient?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface LastCompleteStore {
  readonly load: () => Promise<string | undefined>;
  readonly store: (commit: string) => Promise<void>;
}
