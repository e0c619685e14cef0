import type { FileVersion, GitRepository } from '@berth/git-reader/repository/git-repository';
import type { ParsedFile, ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { MANIFESTS_ANNOTATION } from '../../../core/work/manifests/inline-manifests.ts';
import { isUnreadable } from '../manifests/read-content.ts';
import { type FileReading, fileReading, objectKey } from '../manifests/assemble-objects.ts';
import { type FileVersionReading, readFiles } from './file-readings.ts';
import type { ManifestLimits } from '../manifests/source-content.ts';

export interface LastGoodReading {
  readonly parsed: ParsedFile;
  readonly commit: string;
}

/** How many earlier versions are tried. */
const MAX_VERSIONS = 50;
/** Paths are command-line arguments of git, and their length is limited. */
const MAX_PATHS = 250;

interface History {
  readonly commit: string;
  readonly limits: ManifestLimits;
}

/** What the versions of a broken file declared, from the commit backwards. */
interface Earlier<Reading> {
  /** The last one that parsed without errors. Undefined: none did. */
  readonly good: Reading | undefined;
  /** Whether any of them declared an object. */
  readonly everDeclared: boolean;
}

/**
 * The earlier versions of each file: the last good one, and whether any of them declared an object. They
 * are searched in the history and not in memory, so that a restart gives the same objects.
 */
export async function earlierVersions(
  repository: GitRepository,
  { paths, ...history }: History & { readonly paths: readonly string[] },
): Promise<ReadonlyMap<string, Earlier<LastGoodReading>>> {
  const found = new Map<string, Earlier<LastGoodReading>>();
  await walkBack(repository, { paths, ...history }, (path, version) => {
    const { good, everDeclared } = found.get(path) ?? {};
    const known = {
      good: good ?? (isUnreadable(version.parsed) ? undefined : version),
      everDeclared: everDeclared === true || version.parsed.manifests.length > 0,
    };
    found.set(path, known);
    return known.good !== undefined && known.everDeclared;
  });
  return found;
}

/** What the earlier versions of a broken file declared, with the problems of its current version, which is `id`. */
export type EarlierReading = Earlier<FileReading> & Pick<FileVersionReading, 'id'>;

interface BrokenFiles extends History {
  readonly readings: ReadonlyMap<string, FileVersionReading>;
  /** Of an earlier commit: a file that did not change since needs no search. */
  readonly known: ReadonlyMap<string, EarlierReading>;
}

/** What each broken file declared before. */
export async function earlierReadings(
  repository: GitRepository,
  { readings, known, ...history }: BrokenFiles,
): Promise<ReadonlyMap<string, EarlierReading>> {
  const broken = [...readings].filter(([, { id, parsed }]) => id !== '' && isUnreadable(parsed));
  const changed = broken.flatMap(([path, { id }]) => (known.get(path)?.id === id ? [] : [path]));
  const found = await earlierVersions(repository, { paths: changed, ...history });
  return new Map(
    broken.map(([path, { id, parsed }]) => {
      const before = known.get(path);
      if (before?.id === id) return [path, before];
      const { good, everDeclared = false } = found.get(path) ?? {};
      const manifests = good?.parsed.manifests.map((manifest) => locatedAtCommit(manifest, good.commit));
      const reading = manifests && fileReading({ manifests, problems: parsed.problems });
      return [path, { id, good: reading, everDeclared }];
    }),
  );
}

/**
 * Objects as earlier commits declared them last, each in its file. An object that no earlier
 * version of its file declares, such as the output of a kustomization, is returned unchanged.
 */
export async function lastDeclaredObjects(
  repository: GitRepository,
  { objects, ...history }: History & { readonly objects: readonly ParsedManifest[] },
): Promise<readonly ParsedManifest[]> {
  const open = new Map<string, ParsedManifest[]>();
  for (const object of objects) {
    const { file } = object.location;
    // An object assembled from several files is not declared by a version of one file.
    if (object.object.metadata.annotations?.[MANIFESTS_ANNOTATION] !== undefined) continue;
    open.set(file, [...(open.get(file) ?? []), object]);
  }
  const found = new Map<string, ParsedManifest>();
  await walkBack(repository, { paths: [...open.keys()], ...history }, (path, { parsed, commit }) => {
    const wanted = open.get(path) ?? [];
    for (const manifest of parsed.manifests) {
      const key = objectKey(manifest);
      const isWanted = !found.has(key) && wanted.some((object) => objectKey(object) === key);
      if (isWanted) found.set(key, locatedAtCommit(manifest, commit));
    }
    return wanted.every((object) => found.has(objectKey(object)));
  });
  return objects.map((object) => found.get(objectKey(object)) ?? object);
}

/** Identities of the objects that earlier versions of files declared. */
export async function declaredBefore(
  repository: GitRepository,
  { paths, ...history }: History & { readonly paths: readonly string[] },
): Promise<ReadonlySet<string>> {
  const declared = new Set<string>();
  await walkBack(repository, { paths, ...history }, (_path, { parsed }) => {
    for (const { object } of parsed.manifests)
      for (const identity of possibleIdentities(object)) declared.add(identity);
    return false;
  });
  return declared;
}

/** The manifest, located in an earlier commit than the one being read. */
export function locatedAtCommit(manifest: ParsedManifest, commit: string): ParsedManifest {
  return { ...manifest, location: { ...manifest.location, commit } };
}

/**
 * Visits the versions of each file, newest first, until `show` accepts one. One commit may break
 * many files, so the history is walked for all of them together, then for those whose versions were
 * hidden by others, and only then for each remaining one.
 * @param show returns whether the version is accepted
 */
async function walkBack(
  repository: GitRepository,
  { paths, commit, limits }: History & { readonly paths: readonly string[] },
  show: (path: string, version: LastGoodReading) => boolean,
): Promise<void> {
  let open = paths;
  for (const size of [MAX_PATHS, MAX_PATHS, 1]) {
    const hidden: string[] = [];
    for (const part of inParts(open, size)) {
      const { versions, isWhole } = await repository.fileHistories(commit, part, MAX_VERSIONS);
      for (const path of part) {
        const file = { path, versions: versions.get(path) ?? [], limits };
        const isFound = await showVersions(repository, file, (version) => show(path, version));
        if (!isFound && !isWhole && part.length > 1) hidden.push(path);
      }
    }
    open = hidden;
  }
}

async function showVersions(
  repository: GitRepository,
  file: {
    readonly path: string;
    readonly versions: readonly FileVersion[];
    readonly limits: ManifestLimits;
  },
  show: (version: LastGoodReading) => boolean,
): Promise<boolean> {
  const { path, versions, limits } = file;
  for (const { id, commit } of versions) {
    let parsed: ParsedFile | undefined;
    await readFiles(repository, [{ path, id }], { limits }, (_path, reading) => {
      parsed = reading.parsed;
    });
    if (parsed !== undefined && show({ parsed, commit })) return true;
  }
  return false;
}

function inParts(paths: readonly string[], size: number): string[][] {
  const parts: string[][] = [];
  for (let at = 0; at < paths.length; at += size) parts.push(paths.slice(at, at + size));
  return parts;
}
