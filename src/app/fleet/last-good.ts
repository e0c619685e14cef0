import type { GitRepository } from '../../adapters/git/git-repository.ts';
import type { ParsedFile } from '../../adapters/yaml/parse-manifests.ts';
import { readFiles } from './file-readings.ts';
import type { ManifestLimits } from './fleet.ts';
import { hasErrors } from './read-content.ts';

/** How many versions of a broken file are tried. */
const MAX_VERSIONS = 50;

/**
 * The last version of a file, from the commit backwards, that parsed without errors. It is found in the history and not in
 * memory, so that a restart comes to the same objects. Undefined when there is none: the file never was whole.
 */
export async function lastGoodReading(
  repository: GitRepository,
  file: { readonly path: string; readonly commit: string; readonly limits: ManifestLimits },
): Promise<{ readonly parsed: ParsedFile; readonly commit: string } | undefined> {
  for (const version of await repository.fileHistory(file.commit, file.path, MAX_VERSIONS)) {
    let parsed: ParsedFile | undefined;
    await readFiles(
      repository,
      [{ path: file.path, id: version.id }],
      { limits: file.limits },
      (_path, reading) => {
        parsed = reading.parsed;
      },
    );
    if (parsed !== undefined && !hasErrors(parsed)) return { parsed, commit: version.commit };
  }
  return undefined;
}
