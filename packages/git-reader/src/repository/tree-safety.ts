import type { Problem } from '@berth/runtime/problem/problem';
import type { TreeEntry } from './git-repository.ts';

/** A regular file with a safe path. `id` is the id of its blob. */
export interface TreeFile {
  readonly path: string;
  readonly id: string;
}

/**
 * Splits the entries of a tree into files that may be read as manifests, and a problem for each other entry: symbolic links,
 * submodules, unsafe paths, and paths that differ only in case.
 */
export function splitSafeEntries(
  entries: readonly TreeEntry[],
  commit?: string,
): { readonly files: readonly TreeFile[]; readonly problems: readonly Problem[] } {
  const files: TreeFile[] = [];
  const problems: Problem[] = [];
  const twins = caseFoldTwins(entries);
  for (const entry of entries) {
    const refusal = refusalOf(entry, twins);
    if (refusal === undefined) files.push({ path: entry.path, id: entry.id });
    else
      problems.push({
        severity: 'error',
        ...refusal,
        location: { file: entry.path, line: 1, column: 1, ...(commit === undefined ? {} : { commit }) },
      });
  }
  return { files, problems };
}

/** Problems by the path of their file. */
export function problemsByFile(problems: readonly Problem[]): ReadonlyMap<string, Problem> {
  return new Map(problems.map((problem) => [problem.location?.file ?? '', problem]));
}

type Refusal = Pick<Problem, 'code' | 'message' | 'hint'>;

function refusalOf(entry: TreeEntry, twins: ReadonlyMap<string, string>): Refusal | undefined {
  if (entry.mode === '120000')
    return {
      code: 'source.symlink',
      message: 'got a symbolic link, expected a file',
      hint: 'commit the file itself',
    };
  if (entry.mode === '160000')
    return {
      code: 'source.submodule',
      message: 'got a submodule, which Berth does not read',
      hint: 'add its repository as a separate source',
    };
  if (entry.path.includes('\ufffd'))
    return { code: 'source.path-encoding', message: 'got a path that is not UTF-8, expected UTF-8' };
  const bad = entry.path
    .split('/')
    .find((part) => part === '..' || part === '.' || part === '' || isDotGit(part));
  if (bad !== undefined)
    return {
      code: 'source.path',
      message: `got ${JSON.stringify(bad)} as part of the path, expected plain names`,
    };

  if (/[\u0000-\u001f\u007f\\]/.test(entry.path))
    return {
      code: 'source.path',
      message: 'got control characters or a backslash in the path, expected plain names',
    };
  const twin = twins.get(entry.path);
  if (twin !== undefined)
    return {
      code: 'source.case-twins',
      message: `differs from ${twin} only in case, so some file systems confuse the two`,
      hint: 'rename one of them',
    };
  return undefined;
}

function isDotGit(part: string): boolean {
  return part.toLowerCase() === '.git' || /^git~\d+$/i.test(part);
}

/** For each path that equals another one after Unicode normalization and lower-casing: the other path. */
function caseFoldTwins(entries: readonly TreeEntry[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  const twins = new Map<string, string>();
  for (const { path } of entries) {
    const folded = path.normalize('NFC').toLowerCase();
    const other = first.get(folded);
    if (other === undefined) first.set(folded, path);
    else {
      twins.set(path, other);
      twins.set(other, path);
    }
  }
  return twins;
}
