import { isUtf8 } from 'node:buffer';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import { parseManifests } from '../../../adapters/yaml/parse-manifests.ts';
import { leavesOut, type Problem } from '../../../core/model/problem.ts';

/** First line of a Git LFS pointer file. */
const LFS_POINTER = Buffer.from('version https://git-lfs.github.com/spec/v1', 'latin1');

/** Parses the bytes of one file into objects and problems. Locations name the file, but not the commit yet. */
export function readContent(file: string, bytes: Buffer): ParsedFile {
  if (bytes.subarray(0, LFS_POINTER.length).equals(LFS_POINTER))
    return refusedFile(file, {
      code: 'source.lfs-pointer',
      message: 'got a Git LFS pointer, not its content',
      hint: 'commit manifests as plain files (git lfs migrate export)',
    });
  if (!isUtf8(bytes))
    return refusedFile(file, {
      code: 'source.encoding',
      message: 'got bytes that are not UTF-8, expected UTF-8 text',
    });
  return parseManifests({ file, text: bytes.toString('utf8') });
}

export function tooLargeFile(file: string, sizeBytes: number, maxBytes: number): ParsedFile {
  const message = `file of ${sizeBytes} bytes, expected at most ${maxBytes}`;
  return refusedFile(file, { code: 'source.too-large', message });
}

export function refusedFile(file: string, problem: Pick<Problem, 'code' | 'message' | 'hint'>): ParsedFile {
  return {
    manifests: [],
    problems: [{ severity: 'error', ...problem, location: { file, line: 1, column: 1 } }],
  };
}

export function hasErrors(parsed: ParsedFile): boolean {
  return parsed.problems.some(leavesOut);
}
