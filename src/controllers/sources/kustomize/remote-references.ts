import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '@berth/runtime/problem/problem';
import { parseKustomization, scanConfiguration, withoutPlace } from './kustomization-text.ts';
import type { KustomizationText } from './kustomization-text.ts';
import { resolveEntry } from './kustomize-tree.ts';
import { refusedFile } from '../manifests/read-content.ts';
import { folderOf, isKustomization } from '../manifests/special-folders.ts';

/** @param why the reason, for the message */
export function missingReference(file: string, text: string, why?: Problem): ParsedFile {
  return refusedFile(file, {
    code: 'source.kustomize-reference',
    message: `got ${JSON.stringify(text)}, expected a file or folder of this repository`,
    hint:
      why === undefined
        ? 'remote bases are not fetched: commit a copy'
        : `${why.location?.file ?? text} is refused: ${why.message}`,
  });
}

/**
 * Refuses every entry that would make kustomize open an address, in any kustomization that it might
 * read. kustomize fetches every file that it opens and whose name starts with http, also for
 * patches and generators.
 * @param inputs the paths of the files that kustomize gets
 * @param files their contents
 */
export function findRemoteReferences(
  file: string,
  inputs: readonly string[],
  files: ReadonlyMap<string, Buffer>,
): ParsedFile | undefined {
  const unreadable = (at: string, why: string, place = { line: 1, column: 1 }): ParsedFile => ({
    manifests: [],
    problems: [
      {
        severity: 'error',
        code: 'source.kustomize',
        message: `${at} cannot be read: ${why}`,
        location: { file: at, ...place },
      },
    ],
  });
  const problemOf = (at: string, reaching: Reaching): ParsedFile | undefined => {
    if (reaching.remote !== undefined) return missingReference(file, reaching.remote);
    if (reaching.unreadable === undefined) return undefined;
    const { why, ...place } = reaching.unreadable;
    return unreadable(at, why, place);
  };
  for (const at of inputs) {
    if (!isKustomization(at)) continue;
    const content = files.get(at);
    if (content === undefined) return unreadable(at, 'it is too large, or it is not in the repository');
    const text = parseKustomization(content);
    const problem = problemOf(at, text);
    if (problem !== undefined) return problem;
    for (const entry of text.configurations) {
      const configuration = files.get(resolveEntry(folderOf(at), entry));
      if (configuration === undefined)
        return refusedFile(file, {
          code: 'source.kustomize-reference',
          message: `got ${JSON.stringify(entry)} to configure a generator, transformer or validator, expected a file of the kustomization's folder`,
          hint: 'a rendered folder could name any address: commit the configuration as a file',
        });
      const hidden = problemOf(at, withoutPlace(scanConfiguration(configuration)));
      if (hidden !== undefined) return hidden;
    }
  }
  return undefined;
}

type Reaching = Pick<KustomizationText, 'remote' | 'unreadable'>;
