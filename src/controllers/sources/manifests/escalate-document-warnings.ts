import { NOT_AN_OBJECT } from '../../../adapters/yaml/manifest-check.ts';
import type { ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '@berth/runtime/problem/problem';
import { objectKey } from './assemble-objects.ts';

const HINT =
  'the objects that the file declared before stay unchanged; add apiVersion and kind to the document, or remove it from the file';

/**
 * Turns warnings about documents that are not objects into errors, in files in which a previous
 * object is missing: the document may be that object. Returns the same list if there are none.
 */
export function escalateDocumentWarnings(
  problems: readonly Problem[],
  objects: readonly ParsedManifest[],
  before: readonly ParsedManifest[],
): readonly Problem[] {
  const present = new Set(objects.map(objectKey));
  const vanishedFrom = new Set(
    before.filter((object) => !present.has(objectKey(object))).map(({ location }) => location.file),
  );
  const hides = ({ code, location }: Problem): boolean =>
    code === NOT_AN_OBJECT && vanishedFrom.has(location?.file ?? '');
  if (!problems.some(hides)) return problems;
  return problems.map((problem) =>
    hides(problem) ? { ...problem, severity: 'error', hint: HINT } : problem,
  );
}
