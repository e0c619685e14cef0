import type { TreeChange, TreeEntry } from '@berth/git-reader/repository/git-repository';
import type { TreeFile } from '@berth/git-reader/repository/tree-safety';
import type { ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import type { FileReading } from './assemble-objects.ts';

/** With at least this many changed files all objects are assembled again, which is cheap compared with reading them. */
const MAX_FEW = 64;

/** The previous commit. */
interface Before {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** The readings of all manifests. */
  readonly readings: ReadonlyMap<string, FileReading>;
}

/**
 * The manifests to read for a commit that changed only the content of a few files. Undefined when files were added or
 * removed, when a file mode changed, or when many files changed: then all names are checked.
 */
export function fewChangedFiles(
  { entries, readings }: Before,
  changes: readonly TreeChange[],
): readonly TreeFile[] | undefined {
  if (changes.length > MAX_FEW) return undefined;
  const files: TreeFile[] = [];
  for (const { path, entry } of changes) {
    if (entry === undefined || entries.get(path)?.mode !== entry.mode) return undefined;
    if (readings.has(path)) files.push({ path, id: entry.id });
  }
  return files;
}

/**
 * Replaces the objects of a few files in a fleet. Undefined if all objects must be assembled again:
 * a file has problems, contains other objects than before, or belongs to a folder of manifests.
 */
export function replaceObjects(
  objects: readonly ParsedManifest[],
  before: ReadonlyMap<string, FileReading>,
  fresh: ReadonlyMap<string, FileReading>,
): readonly ParsedManifest[] | undefined {
  const replaced = [...objects];
  for (const [path, after] of fresh) {
    const old = before.get(path);
    if (old === undefined || !isPlain(old) || !isPlain(after)) return undefined;
    if (old.keys.length !== after.keys.length) return undefined;
    for (const [index, key] of old.keys.entries()) {
      // Not in the fleet: it is part of a work, or another object with its key is used.
      const at = replaced.indexOf(old.parsed.manifests[index] as ParsedManifest);
      if (at === -1 || after.keys[index] !== key) return undefined;
      replaced[at] = after.parsed.manifests[index] as ParsedManifest;
    }
  }
  return replaced;
}

function isPlain({ parsed, folders }: FileReading): boolean {
  return parsed.problems.length === 0 && folders.length === 0;
}
