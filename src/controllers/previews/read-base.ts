import { BerthError } from '../../core/errors.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import type { SourceReader } from '../sources/reading/source-reader.ts';

/** What a controller keeps of commits from before these is not predicted. */
const MAX_EARLIER_COMMITS = 50;

/**
 * Reads the base of a plan as a controller that follows the branch has read it: where not every file can be read, objects that are
 * nowhere to be found stay as the newest commit before it declared them in which every file can. Looks along the first parents.
 * @param base full id of a commit
 * @throws what reading the base throws; an earlier commit that is not there (a shallow clone) ends the search
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
