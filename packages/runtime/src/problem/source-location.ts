import { printable } from '../text/printable.ts';

/** Where something is in a source file. Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Full commit id when the file was read from Git. */
  readonly commit?: string | undefined;
}

/** `path:line:column`, followed by ` @ 1234abcd` when the file came from a commit. */
export function formatLocation(location: SourceLocation): string {
  const at = location.commit === undefined ? '' : ` @ ${location.commit.slice(0, 8)}`;
  return `${printable(location.file)}:${location.line}:${location.column}${at}`;
}
