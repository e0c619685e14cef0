import { InputError } from '../../../core/errors.ts';
import type { SourceContent } from './source-content.ts';

/** @throws InputError when there is nothing at all to read, not even something that is refused: most likely it is the wrong place */
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
  throw new InputError(`holds no manifest: got no file, expected *.yaml, *.yml or *.json${among}`, {
    code: 'source.no-manifests',
    subject: where,
    hint: 'folders below it are looked through as well; *.placement-test.yaml, *.rule-test.yaml and what begins with a dot are no manifests',
  });
}
