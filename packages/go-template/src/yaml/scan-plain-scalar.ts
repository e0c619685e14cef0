import { FoldedSpace } from './folded-space.ts';
import type { YamlCursor } from './yaml-cursor.ts';
import { scannerError } from './yaml-error.ts';

export interface PlainScalar {
  /** Byte string. */
  readonly value: string;
  /** Whether a line break follows. */
  readonly endsLine: boolean;
}

/**
 * Reads a text without quotes.
 * @param parent the indentation around it; -1 for none
 */
export function scanPlainScalar(cursor: YamlCursor, isFlow: boolean, parent: number): PlainScalar {
  const space = new FoldedSpace();
  const indent = parent + 1;
  const checkTab = (): void => {
    if (cursor.is('\t') && cursor.column < indent)
      throw scannerError('found a tab character that violates indentation', cursor.line);
  };
  const isWanted = (): boolean => !cursor.isBlankOrEnd() && !endsPlain(cursor, isFlow);
  let value = '';
  while (!cursor.isDocumentIndicator() && !cursor.is('#')) {
    if (isWanted()) value += space.take() + cursor.readWhile(isWanted);
    if (!cursor.isBlank() && !cursor.isBreak()) break;
    space.read(cursor, checkTab);
    if (!isFlow && cursor.column < indent) break;
  }
  return { value, endsLine: space.isNewLine };
}

function endsPlain(cursor: YamlCursor, isFlow: boolean): boolean {
  switch (cursor.code()) {
    case 0x3a: // :
      return cursor.isBlankOrEnd(1);
    case 0x2c: // ,
    case 0x3f: // ?
    case 0x5b: // [
    case 0x5d: // ]
    case 0x7b: // {
    case 0x7d: // }
      return isFlow;
    default:
      return false;
  }
}
