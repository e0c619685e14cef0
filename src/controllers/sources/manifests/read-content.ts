import { isUtf8 } from 'node:buffer';
import { hasManifestFields } from '../../../adapters/yaml/locate-fields.ts';
import { type ParsedFile, parseManifests } from '../../../adapters/yaml/parse-manifests.ts';
import { leavesOut, type Problem } from '@berth/runtime/problem/problem';

/** The code of the problem of a kustomization that cannot be rendered. */
export const KUSTOMIZE = 'source.kustomize';

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
  const text = bytes.toString('utf8');
  return withoutForeignErrors(text, parseManifests({ file, text }));
}

/**
 * Notes, configurations with tags or comments of their own, and templates are no manifests: that they cannot be read is a
 * warning.
 */
function withoutForeignErrors(text: string, parsed: ParsedFile): ParsedFile {
  const errors = parsed.problems.filter(({ severity }) => severity === 'error');
  const mayBeForeign = parsed.manifests.length === 0 && errors.length > 0 && errors.every(isUnread);
  if (!mayBeForeign || looksLikeManifest(text)) return parsed;
  const problems = parsed.problems.map((one): Problem => {
    if (!isUnread(one)) return one;
    const hint = one.hint === undefined ? LEAVE_OUT : `${one.hint}; ${LEAVE_OUT}`;
    return { ...one, severity: 'warning', hint };
  });
  return { manifests: [], problems };
}

/** Names no file, because the result is cached for each file with this content. */
const LEAVE_OUT = 'if it is no manifest, leave it out with a path that begins with "!"';

/** A template has a field or an action in the place of a value or of a line. */
const TEMPLATE = /^[ \t]*(?:-[ \t]+)?\{\{|:[ \t]+\{\{/m;

function looksLikeManifest(text: string): boolean {
  return hasManifestFields(text) && !TEMPLATE.test(text);
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

/** Whether a part of the file is unknown, so that an object may be in it without being seen. */
export function isUnreadable({ problems }: ParsedFile): boolean {
  return problems.some((one) => leavesOut(one) || isUnread(one));
}

/** Turns the warnings about what cannot be read into errors: there were objects in it before. */
export function escalateUnread(problems: readonly Problem[]): readonly Problem[] {
  return problems.map((one) => (isUnread(one) ? { ...one, severity: 'error' } : one));
}

/** Whether it is about a text that cannot be parsed, or a kustomization that cannot be rendered. */
function isUnread({ code }: Problem): boolean {
  return code.startsWith('yaml.') || code === KUSTOMIZE;
}
