import type { ParsedFile, ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import { formatRef, refOf } from '../../core/model/object-ref.ts';
import type { Problem } from '../../core/model/problem.ts';
import { inlineManifests, isInFolder, manifestFolder } from '../../core/work/inline-manifests.ts';
import { formatLocation } from '../../core/model/source-location.ts';

/** A file's objects together with the commit whose version of the file they come from. */
export interface FileReading {
  readonly parsed: ParsedFile;
  readonly commit?: string | undefined;
}

/** `apiVersion kind namespace/name` without the version: what two files must not both hold. */
export function objectKey({ object }: Pick<ParsedManifest, 'object'>): string {
  const { apiVersion, kind, metadata } = object;
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return `${group}|${kind}|${metadata.namespace ?? ''}|${metadata.name}`;
}

/**
 * Puts the files' objects together; the first of several objects of one name counts, the others are problems. Manifests in
 * a folder that a work names go into that work: two such folders may hold objects of the same name.
 * @param root what stands before the repository's paths in locations ('' or with a slash at the end); undefined: folders are
 * not looked into, because only one file was read
 */
export function assembleObjects(
  readings: Iterable<FileReading>,
  root: string | undefined,
): {
  readonly objects: ParsedManifest[];
  readonly problems: Problem[];
  /** False when a work was left out because its folder of manifests is not in order. */
  readonly complete: boolean;
} {
  const objects: ParsedManifest[] = [];
  const problems: Problem[] = [];
  const seen = new Map<string, ParsedManifest>();
  const all = [...readings];
  const folders =
    root === undefined
      ? []
      : all.flatMap(({ parsed }) => parsed.manifests.flatMap(({ object }) => manifestFolder(object) ?? []));
  for (const { parsed, commit } of all) {
    for (const problem of parsed.problems) problems.push(atCommit(problem, commit));
    for (const manifest of parsed.manifests) {
      const placed =
        commit === undefined ? manifest : { ...manifest, location: { ...manifest.location, commit } };
      const folder = folders.find((name) => isInFolder(placed.location.file, `${root}${name}`)) ?? '';
      const key = `${folder}|${objectKey(placed)}`;
      const other = seen.get(key);
      if (other === undefined) {
        seen.set(key, placed);
        objects.push(placed);
      } else problems.push(duplicate(placed, other));
    }
  }
  const inlined = root === undefined ? { objects, problems: [] } : inlineManifests(objects, problems, root);
  return {
    objects: [...inlined.objects],
    problems: [...problems, ...inlined.problems],
    complete: inlined.problems.length === 0,
  };
}

function atCommit(problem: Problem, commit: string | undefined): Problem {
  if (commit === undefined || problem.location === undefined || problem.location.commit !== undefined)
    return problem;
  return { ...problem, location: { ...problem.location, commit } };
}

function duplicate(manifest: ParsedManifest, other: ParsedManifest): Problem {
  const { commit: _commit, ...place } = other.location;
  return {
    severity: 'error',
    code: 'source.duplicate-object',
    message: `is defined a second time; the definition at ${formatLocation(place)} counts`,
    hint: 'remove one of the two',
    location: manifest.location,
    object: formatRef(refOf(manifest.object)),
  };
}
