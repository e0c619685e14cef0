import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import type { ParsedManifest } from '../../../adapters/yaml/parse-manifests.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Problem } from '@berth/runtime/problem/problem';
import { InputError } from '@berth/runtime/errors';

/** An object that is not seen in a commit, and may be in it nevertheless. */
export interface Doubt {
  readonly object: KubeObject;
  /** `ansible/deploy.yml cannot be read`. */
  readonly because: string;
}

/** The objects and problems of one commit or one folder. */
export interface SourceContent {
  /** Absent for a plain folder. */
  readonly commit?: CommitInfo | undefined;
  /**
   * Objects without errors, one for each key, in the order of file and line. A location names a commit only if it
   * differs from `commit`: the object is then the last good version of one that is broken now.
   */
  readonly objects: readonly ParsedManifest[];
  readonly problems: readonly Problem[];
  /** Number of YAML and JSON files that were read. */
  readonly files: number;
  /**
   * False if a file could not be read: its objects may then be those of an earlier commit, and a
   * missing object was not necessarily removed. An incomplete fleet must not cause pruning.
   */
  readonly complete: boolean;
  /** The places that cannot be read. Absent: none. */
  readonly unreadable?: readonly string[] | undefined;
  /** The objects that left Git and stay, because they may be in such a place. They are among `objects`. Absent: none. */
  readonly staying?: readonly Doubt[] | undefined;
  /**
   * Which of other objects that the source does not declare may be in such a place. Absent: none.
   * @throws BerthError when the repository cannot be read
   */
  readonly doubtsAbout?: ((objects: readonly KubeObject[]) => Promise<readonly Doubt[]>) | undefined;
  /**
   * The text of a file as it was read, for messages with positions; undefined if it no longer
   * exists.
   */
  readonly textOf: (file: string, commit?: string) => Promise<string | undefined>;
}

export interface ManifestLimits {
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

export const DEFAULT_MANIFEST_LIMITS: ManifestLimits = { maxFileBytes: 8 * 1024 * 1024, maxFiles: 100_000 };

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
