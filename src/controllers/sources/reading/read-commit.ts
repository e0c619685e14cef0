import type { CommitListing } from '../manifests/commit-listing.ts';
import type { SourceContent } from '../manifests/source-content.ts';
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
