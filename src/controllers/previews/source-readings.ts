import { BerthError } from '../../core/errors.ts';
import type { SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { SourceReader } from '../sources/reading/source-reader.ts';
import type { ComparedCommits } from './compared-commits.ts';
import type { ReadFleets } from './judge-sources.ts';
import type { PlanMemory } from './plan-memory.ts';

/** How far the search goes back. What a controller keeps from earlier commits is not predicted. */
const MAX_EARLIER_COMMITS = 50;

export interface PlannedSource extends Omit<SourceDeclaration, 'objects'> {
  readonly paths: readonly string[];
}

interface SourceReadingsInput {
  readonly sources: readonly PlannedSource[];
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** See `PlanRevisionsInput`. */
  readonly runsPrograms?: boolean | undefined;
  readonly memory?: PlanMemory | undefined;
}

interface ReadSource {
  readonly reader: SourceReader;
  readonly source: Omit<SourceDeclaration, 'objects'>;
  /** By which the base is kept. */
  readonly key: string;
}

/**
 * Reads the sources of a plan as the controller does: a broken file keeps its last good objects. One reader for both
 * commits knows what was there before.
 */
export class SourceReadings {
  readonly #sources: readonly ReadSource[];
  readonly #memory: PlanMemory | undefined;

  constructor(
    { sources, ambient, runsPrograms = true, memory }: SourceReadingsInput,
    { repository }: Pick<ComparedCommits, 'repository'>,
  ) {
    this.#memory = memory;
    this.#sources = sources.map(({ paths, ...source }) => {
      const key = JSON.stringify([source.name, paths]);
      const reader = new SourceReader(repository, {
        paths,
        keepLastGood: true,
        cache: memory?.files,
        start: memory?.bases?.of(key),
        ambient: runsPrograms ? ambient : undefined,
      });
      return { reader, source, key };
    });
  }

  /** @param commit full id */
  async base(commit: string): Promise<ReadFleets> {
    const fleets = await this.#read((reader) => readBase(reader, commit));
    const { bases, baseLists } = this.#memory ?? {};
    for (const { reader, key } of this.#sources) {
      const kept = bases && reader.keep();
      if (kept !== undefined) bases?.keep(key, kept);
    }
    return fleets.map((fleet) => ({
      ...fleet,
      objects: baseLists?.reuse(fleet.name, fleet.objects) ?? fleet.objects,
    }));
  }

  /** @param commit full id */
  head(commit: string): Promise<ReadFleets> {
    return this.#read((reader) => reader.read(commit));
  }

  async #read(read: (reader: SourceReader) => Promise<SourceContent>): Promise<ReadFleets> {
    const fleets: (SourceContent & SourceDeclaration)[] = [];
    for (const { reader, source } of this.#sources) fleets.push({ ...(await read(reader)), ...source });
    return fleets;
  }
}

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
