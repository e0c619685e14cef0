import { refuseShallow } from '@berth/git-reader/repository/incomplete-clone';
import {
  type SourceDeclaration,
  contestedObjects,
  type OwnerOf,
} from '../../core/preview/sides/merge-sources.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { SourceReader } from '../sources/reading/source-reader.ts';
import type { ComparedCommits, PlanMemory } from './compared-commits.ts';
import type { ReadFleets } from './judge-deletions.ts';
import { sha256 } from '@berth/runtime/sha256';
import { BerthError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { APPLY_SET_PART_OF_LABEL, applySetId, parentOfSource } from '../../core/sync/apply-set.ts';

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

/**
 * Finds the source that owns each object which more than one source declares. The controller leaves such an object to
 * its owner.
 * @param commits what each source declares at each of the commits
 * @returns by identity; the owner of an object that cannot be read is unknown
 */
export async function readOwners(
  api: KubeApi,
  ...commits: readonly (readonly SourceDeclaration[])[]
): Promise<OwnerOf> {
  const sources = commits.flat();
  const names = new Map(sources.map(({ name }) => [applySetId(sha256, parentOfSource(name)), name]));
  const owners = new Map<string, string>();
  for (const object of commits.flatMap(contestedObjects)) {
    const set = (await readObject(api, object))?.metadata.labels?.[APPLY_SET_PART_OF_LABEL];
    const owner = names.get(set ?? '');
    if (owner !== undefined) owners.set(identityOf(object), owner);
  }
  return (identity) => owners.get(identity);
}

async function readObject(api: KubeApi, object: KubeObject): Promise<KubeObject | undefined> {
  try {
    const kind = await api.resolve(object.apiVersion, object.kind);
    const { name, namespace } = object.metadata;
    return (
      kind && (await api.get(kind, { name, namespace: kind.namespaced ? (namespace ?? 'default') : '' }))
    );
  } catch (error) {
    if (error instanceof BerthError) return undefined;
    throw error;
  }
}
