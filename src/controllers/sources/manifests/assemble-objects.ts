import type { ParsedFile, ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import { formatRef, groupVersionOf, refOf } from '@berth/kube/model/object-ref';
import type { Problem } from '@berth/runtime/problem/problem';
import { inlineManifests, manifestFolder } from '../../../core/work/manifests/inline-manifests.ts';
import { formatLocation } from '@berth/runtime/problem/source-location';

/** The objects of one file, ready to be assembled. */
export interface FileReading {
  readonly parsed: ParsedFile;
  /** objectKey of each manifest. Computed once, when the file is parsed. */
  readonly keys: readonly string[];
  /** Folders from which works in this file take their manifests. */
  readonly folders: readonly string[];
}

export function fileReading(parsed: ParsedFile): FileReading {
  return {
    parsed,
    keys: parsed.manifests.map(objectKey),
    folders: parsed.manifests.flatMap(({ object }) => manifestFolder(object) ?? []),
  };
}

/**
 * Group, kind, namespace and name of an object, without its version. Two files must not contain the
 * same key.
 */
export function objectKey({ object }: Pick<ParsedManifest, 'object'>): string {
  const { apiVersion, kind, metadata } = object;
  return `${groupVersionOf(apiVersion).group}|${kind}|${metadata.namespace ?? ''}|${metadata.name}`;
}

/**
 * Assembles the files' objects; of several objects with one key the first is used, and the others
 * are problems. Manifests in a folder that a work names become part of that work, so two such
 * folders may contain objects of the same name. Objects of unchanged files keep their identity from
 * commit to commit.
 * @param root prefix of the repository's paths in locations ('' or with a slash at the end);
 * undefined: folders are ignored, because only one file was read
 */
export function assembleObjects(
  readings: readonly FileReading[],
  root: string | undefined,
): {
  readonly objects: readonly ParsedManifest[];
  readonly problems: readonly Problem[];
  /** False if a work was left out because its folder of manifests has problems. */
  readonly complete: boolean;
} {
  const objects: ParsedManifest[] = [];
  const problems: Problem[] = [];
  const seen = new Map<string, ParsedManifest>();
  const folders = new Set(
    root === undefined ? [] : readings.flatMap((one) => one.folders.map((name) => `${root}${name}`)),
  );
  for (const { parsed, keys } of readings) {
    const [first] = parsed.manifests;
    const folder =
      folders.size === 0 || first === undefined ? undefined : folderOf(first.location.file, folders);
    if (parsed.problems.length > 0) problems.push(...parsed.problems);
    for (const [index, manifest] of parsed.manifests.entries()) {
      const own = keys[index] ?? objectKey(manifest);
      const key = folder === undefined ? own : `${folder}|${own}`;
      const other = seen.get(key);
      if (other === undefined) {
        seen.set(key, manifest);
        objects.push(manifest);
      } else problems.push(duplicate(manifest, other));
    }
  }
  if (root === undefined || folders.size === 0) return { objects, problems, complete: true };
  const inlined = inlineManifests(objects, problems, root);
  return {
    objects: inlined.objects,
    problems: [...problems, ...inlined.problems],
    complete: inlined.problems.length === 0,
  };
}

/** The outermost of the folders that contain the file. */
function folderOf(file: string, folders: ReadonlySet<string>): string | undefined {
  for (let slash = file.indexOf('/'); slash !== -1; slash = file.indexOf('/', slash + 1))
    if (folders.has(file.slice(0, slash))) return file.slice(0, slash);
  return undefined;
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
