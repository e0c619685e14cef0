import type { CommitListing } from '../manifests/commit-listing.ts';
import type { ManifestLimits, SourceContent } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedFiles } from '../parsing/parsed-cache.ts';
import type { EarlierCommit } from './doubts.ts';
import type { FileVersionReading } from './file-readings.ts';

/** The state of a read commit, so that the next one costs only its difference. */
export interface ReadCommit extends CommitListing {
  readonly readings: Map<string, FileVersionReading>;
  /** Present if there are no problems and no file is assembled from others. A few files can then be replaced in it. */
  readonly plain: SourceContent | undefined;
}

/** The same for a later reader, without the one that read it. */
export interface KeptCommit extends Omit<ReadCommit, 'plain'> {
  readonly plain: Omit<SourceContent, 'textOf'> | undefined;
  /** The last complete commit, if it is known. */
  readonly lastComplete?: EarlierCommit | undefined;
}

export function keepCommit({ plain, ...commit }: ReadCommit): KeptCommit {
  const { textOf: _textOf, ...content } = plain ?? {};
  return { ...copied(commit), plain: plain && (content as KeptCommit['plain']) };
}

/** @param textOf reads a file of a commit for the reader that goes on */
export function goOnFrom(
  { plain, ...read }: KeptCommit,
  textOf: (file: string, commit: string) => Promise<string | undefined>,
): ReadCommit {
  const ofThisCommit: SourceContent['textOf'] = (file, commit) => textOf(file, commit ?? read.commit);
  return { ...copied(read), plain: plain && { ...plain, textOf: ofThisCommit } };
}

/** A reader changes its maps. */
function copied<T extends Pick<ReadCommit, 'entries' | 'readings'>>(commit: T): T {
  return { ...commit, entries: new Map(commit.entries), readings: new Map(commit.readings) };
}

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
