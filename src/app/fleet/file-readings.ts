import type { GitRepository } from '../../adapters/git/git-repository.ts';
import type { TreeFile } from '../../adapters/git/tree-safety.ts';
import type { ParsedFile } from '../../adapters/yaml/parse-manifests.ts';
import { fileReading } from './assemble-fleet.ts';
import type { FileReading } from './assemble-fleet.ts';
import type { ManifestLimits } from './fleet.ts';
import { readContent, refused, tooLarge } from './read-content.ts';

/** A file as it stands in a commit. */
export interface FileVersionReading extends FileReading {
  readonly id: string;
}

/** Reads and parses blobs in one pass over the repository; calls back in the order of `files`. */
export async function readFiles(
  repository: GitRepository,
  files: readonly TreeFile[],
  limits: ManifestLimits,
  onFile: (path: string, reading: FileVersionReading) => void,
): Promise<void> {
  let index = 0;
  await repository.readBlobs(
    files.map((file) => file.id),
    { maxBytes: limits.maxFileBytes },
    (blob) => {
      const file = files[index++];
      if (file === undefined) return;
      onFile(file.path, { id: file.id, ...fileReading(parseBlob(file.path, blob, limits)) });
    },
  );
}

function parseBlob(
  path: string,
  blob: Parameters<Parameters<GitRepository['readBlobs']>[2]>[0],
  limits: ManifestLimits,
): ParsedFile {
  switch (blob.state) {
    case 'read':
      return readContent(path, blob.bytes);
    case 'too-large':
      return tooLarge(path, blob.sizeBytes, limits.maxFileBytes);
    case 'missing':
      return refused(path, {
        code: 'git.missing-blob',
        message: `the repository does not hold the file's content (blob ${blob.id.slice(0, 12)})`,
        hint: 'fetch the repository again, without a partial clone filter',
      });
  }
}
