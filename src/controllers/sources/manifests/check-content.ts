import { makeFieldLocator } from '../../../adapters/yaml/locate-fields.ts';
import type { ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import { formatFieldPath } from '@berth/kube/model/field-path';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { Problem } from '@berth/runtime/problem/problem';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import { SourceChecker } from '../../../core/sources/check-sources.ts';
import type { SourceFinding } from '../../../core/sources/source-finding.ts';
import type { ReferredObject } from '../../../core/sources/source-references.ts';
import type { SourceContent } from './source-content.ts';

/** Additional checks of the objects of one source. */
export type CheckMore = (objects: SourceContent['objects']) => readonly SourceFinding[];

/** See `checkContents`. */
export async function checkContent(
  content: SourceContent,
  checker?: SourceChecker,
  checkMore?: CheckMore,
): Promise<readonly Problem[]> {
  const [problems = []] = await checkContents([{ content, checkMore }], checker);
  return problems;
}

/**
 * Problems of reading and semantic problems of sources that are followed together, so that objects of one may refer to
 * objects of another.
 * @param checker one that checked the previous fleet: unchanged objects are then not checked again
 * @param elsewhere what else the objects may refer to
 * @returns for each source, by file and line, each with its own line and column
 */
export async function checkContents(
  sources: readonly { readonly content: SourceContent; readonly checkMore?: CheckMore | undefined }[],
  checker = new SourceChecker(),
  elsewhere?: () => readonly ReferredObject[],
): Promise<readonly (readonly Problem[])[]> {
  const all = sources.flatMap(({ content }) => content.objects);
  const findings = groupBy(checker.check(all, elsewhere), ({ source }) => source);
  return Promise.all(
    sources.map(({ content, checkMore }) =>
      problemsOf(content, [
        ...content.objects.flatMap((object) => findings.get(object) ?? []),
        ...(checkMore?.(content.objects) ?? []),
      ]),
    ),
  );
}

async function problemsOf(
  content: SourceContent,
  findings: readonly SourceFinding[],
): Promise<readonly Problem[]> {
  const locate = fieldFinder(content);
  const problems: Problem[] = [...content.problems];
  for (const finding of findings) {
    const { severity, code, message, hint, source, path } = finding;
    const location = atCommit(await locate(finding), content.commit?.id);
    const object = formatRef(refOf(source.object));
    const text = path.length === 0 ? message : `${formatFieldPath(path)}: ${message}`;
    problems.push({
      severity,
      code,
      message: text,
      location,
      object,
      ...(hint === undefined ? {} : { hint }),
    });
  }
  return problems.sort(byPlace);
}

/** Reads and indexes a file again only when a finding points into it, and only for the first finding. */
function fieldFinder(content: SourceContent): (finding: SourceFinding) => Promise<SourceLocation> {
  const locators = new Map<string, ReturnType<typeof makeFieldLocator> | undefined>();
  return async ({ source, path }) => {
    const { object, location, place } = source as ParsedManifest;
    const known = knownPlaces.get(object)?.get(formatFieldPath(path));
    if (known !== undefined) return { ...location, ...known };
    const key = `${location.commit ?? ''}:${location.file}`;
    if (!locators.has(key)) {
      const text = await content.textOf(location.file, location.commit);
      locators.set(key, text === undefined ? undefined : makeFieldLocator(text));
    }
    const locator = locators.get(key);
    if (locator === undefined) return location;
    const found = locator(place, path);
    if (!knownPlaces.has(object)) knownPlaces.set(object, new Map());
    knownPlaces.get(object)?.set(formatFieldPath(path), found);
    return { ...location, ...found };
  };
}

/** Positions of the fields of each object. An identical object comes from an identical file. */
const knownPlaces = new WeakMap<object, Map<string, Pick<SourceLocation, 'line' | 'column'>>>();

/** Objects of the fleet's own commit do not repeat the commit. A problem that is shown alone does. */
function atCommit(location: SourceLocation, commit: string | undefined): SourceLocation {
  return commit === undefined || location.commit !== undefined ? location : { ...location, commit };
}

function byPlace(a: Problem, b: Problem): number {
  const left = a.location;
  const right = b.location;
  if (left === undefined || right === undefined)
    return (left === undefined ? 1 : 0) - (right === undefined ? 1 : 0);
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}
