import { InputError } from '@berth/runtime/errors';
import type { SourceContent } from './source-content.ts';

/** @throws InputError if there is nothing to read, not even a refused file: the path is probably wrong */
export function requireManifests(
  read: readonly Pick<SourceContent, 'files' | 'objects' | 'problems'>[],
  where: string,
  globs: readonly string[],
): void {
  const isEmpty = read.every(
    ({ files, objects, problems }) => files === 0 && objects.length === 0 && problems.length === 0,
  );
  // Files excluded by name are excluded on purpose.
  if (!isEmpty || (globs.length > 0 && globs.every((glob) => glob.startsWith('!')))) return;
  const among =
    globs.length === 0 ? '' : ` that match ${globs.map((glob) => JSON.stringify(glob)).join(', ')}`;
  throw new InputError(`contains no manifest: got no file, expected *.yaml, *.yml or *.json${among}`, {
    code: 'source.no-manifests',
    subject: where,
    hint: 'subfolders are searched as well; *.placement-test.yaml, *.rule-test.yaml and names that start with a dot are not manifests',
  });
}
