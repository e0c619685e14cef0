import { BerthError } from '../../core/errors.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import type { SourceReader } from '../sources/reading/source-reader.ts';

/** How far the search goes back. What a controller keeps from earlier commits is not predicted. */
const MAX_EARLIER_COMMITS = 50;

/**
 * Reads the base of a plan as a controller that follows the branch has read it. If a file cannot be read, an object
 * that is missing in the base stays as declared by the newest earlier commit in which every file can be read. The
 * search follows the first parents.
 * @param base full id of a commit
 * @throws the errors of reading the base; a missing earlier commit (in a shallow clone) ends the search
 */
export async function readBase(reader: SourceReader, base: string): Promise<SourceContent> {
  const content = await reader.read(base);
  let earlier: SourceContent | undefined = content;
  for (let step = 0; earlier?.complete === false && step < MAX_EARLIER_COMMITS; step++)
    earlier = await readParent(reader, earlier);
  return earlier === content ? content : reader.read(base);
}

async function readParent(
  reader: SourceReader,
  { commit }: SourceContent,
): Promise<SourceContent | undefined> {
  const [parent] = commit?.parents ?? [];
  if (parent === undefined) return undefined;
  return reader.read(parent).catch((error: unknown) => {
    if (error instanceof BerthError) return undefined;
    throw error;
  });
}
