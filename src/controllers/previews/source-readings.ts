import { refuseShallow } from '@berth/git-reader/repository/incomplete-clone';
import type { SourceDeclaration } from '../../core/preview/sides/merge-sources.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { SourceReader } from '../sources/reading/source-reader.ts';
import type { ComparedCommits, PlanMemory } from './compared-commits.ts';
import type { ReadFleets } from './judge-deletions.ts';

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
  readonly #repository: ComparedCommits['repository'];
  readonly #memory: PlanMemory | undefined;

  constructor(
    { sources, ambient, runsPrograms = true, memory }: SourceReadingsInput,
    { repository }: Pick<ComparedCommits, 'repository'>,
  ) {
    this.#repository = repository;
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
    const fleets = await this.#read(commit);
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
    return this.#read(commit);
  }

  /** @throws InputError `git.shallow` if earlier versions of a file count, and are not here */
  async #read(commit: string): Promise<ReadFleets> {
    const fleets: (SourceContent & SourceDeclaration)[] = [];
    for (const { reader, source } of this.#sources) {
      const content = await reader.read(commit);
      const [unreadable] = content.unreadable ?? [];
      if (unreadable !== undefined && (await this.#repository.isShallow()))
        refuseShallow(unreadable, 'what this file declared before it could not be read');
      fleets.push({ ...content, ...source });
    }
    return fleets;
  }
}
