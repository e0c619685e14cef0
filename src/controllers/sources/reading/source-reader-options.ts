import type { ManifestLimits } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedFiles } from '../parsing/parsed-files.ts';

export interface SourceReaderOptions {
  /** Globs of manifests; none: every YAML and JSON file. */
  readonly paths?: readonly string[] | undefined;
  readonly limits?: ManifestLimits | undefined;
  /**
   * Put the last good version of a file in the place of a broken one. Off for checks and previews, which are to show what
   * the commit itself says.
   */
  readonly keepLastGood?: boolean | undefined;
  /** Where the last commit that could be read completely is remembered across restarts. */
  readonly lastComplete?: LastCompleteStore | undefined;
  /** Where parsed files are kept for the next reader, or across restarts. */
  readonly cache?: ParsedFiles | undefined;
  /** Threads that parse when many files are new. */
  readonly pool?: ParsePool | undefined;
  /** The process's environment: where to find kubectl, for kustomizations. Absent: they are refused. */
  readonly ambient?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface LastCompleteStore {
  readonly load: () => Promise<string | undefined>;
  readonly store: (commit: string) => Promise<void>;
}
