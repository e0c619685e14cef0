import type { FileVersion, GitRepository } from '../../adapters/git/repository/git-repository.ts';
import type { ParsedFile } from '../../adapters/yaml/parse-manifests.ts';
import { readFiles } from './file-readings.ts';
import type { ManifestLimits } from './fleet.ts';
import { hasErrors } from './read-content.ts';

export interface LastGood {
  readonly parsed: ParsedFile;
  readonly commit: string;
}

/** How many commits are looked through for earlier versions. */
const MAX_VERSIONS = 50;
/** Paths are arguments of git, and arguments are limited. */
const MAX_PATHS = 250;

/**
 * The last version of each file, from the commit backwards, that parsed without errors. They are found in the history and not in
 * memory, so that a restart comes to the same objects. A file that never was whole has none.
 *
 * One change may break many files. The history is walked for all of them at once, then for those whose versions the others hid, and only
 * then for each of what is left.
 */
export async function lastGoodReadings(
  repository: GitRepository,
  files: { readonly paths: readonly string[]; readonly commit: string; readonly limits: ManifestLimits },
): Promise<ReadonlyMap<string, LastGood>> {
  const { paths, commit, limits } = files;
  const found = new Map<string, LastGood>();
  let open = paths;
  for (const size of [MAX_PATHS, MAX_PATHS, 1]) {
    const hidden: string[] = [];
    for (const part of inParts(open, size)) {
      const { versions, isWhole } = await repository.fileHistories(commit, part, MAX_VERSIONS);
      for (const path of part) {
        const good = await lastGoodOf(repository, { path, versions: versions.get(path) ?? [], limits });
        if (good !== undefined) found.set(path, good);
        else if (!isWhole && part.length > 1) hidden.push(path);
      }
    }
    open = hidden;
  }
  return found;
}

async function lastGoodOf(
  repository: GitRepository,
  file: {
    readonly path: string;
    readonly versions: readonly FileVersion[];
    readonly limits: ManifestLimits;
  },
): Promise<LastGood | undefined> {
  const { path, versions, limits } = file;
  for (const { id, commit } of versions) {
    let parsed: ParsedFile | undefined;
    await readFiles(repository, [{ path, id }], { limits }, (_path, reading) => {
      parsed = reading.parsed;
    });
    if (parsed !== undefined && !hasErrors(parsed)) return { parsed, commit };
  }
  return undefined;
}

function inParts(paths: readonly string[], size: number): string[][] {
  const parts: string[][] = [];
  for (let at = 0; at < paths.length; at += size) parts.push(paths.slice(at, at + size));
  return parts;
}
