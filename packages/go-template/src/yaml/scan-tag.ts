import { type YamlCursor, scannerError, type YamlToken, yamlToken } from './yaml-cursor.ts';

/** The name of an anchor or of an alias, with its indicator. */
export function scanAnchor(cursor: YamlCursor, kind: 'anchor' | 'alias'): YamlToken {
  const { line } = cursor;
  cursor.skip();
  const value = cursor.readWhile(() => cursor.isWord());
  if (value === '' || !(cursor.isBlankOrEnd() || '?:,]}%@`'.includes(cursor.ahead(1))))
    throw scannerError('did not find expected alphabetic or numeric character', cursor.line);
  return yamlToken(kind, line, { value });
}

/** `!<…>`, `!name`, `!!name` or `!handle!name`. */
export function scanTag(cursor: YamlCursor): YamlToken {
  const { line } = cursor;
  const found = cursor.is('<', 1) ? scanVerbatim(cursor) : scanShort(cursor);
  if (!cursor.isBlankOrEnd())
    throw scannerError('did not find expected whitespace or line break', cursor.line);
  return yamlToken('tag', line, found);
}

interface Tag {
  readonly value: string;
  readonly suffix: string;
}

function scanVerbatim(cursor: YamlCursor): Tag {
  cursor.skipTimes(2);
  const suffix = scanUri(cursor, '');
  if (!cursor.is('>')) throw scannerError("did not find the expected '>'", cursor.line);
  cursor.skip();
  return { value: '', suffix };
}

function scanShort(cursor: YamlCursor): Tag {
  const handle = scanHandle(cursor, false);
  if (handle.length > 1 && handle.endsWith('!')) return { value: handle, suffix: scanUri(cursor, '') };
  const suffix = scanUri(cursor, handle);
  return suffix === '' ? { value: '', suffix: '!' } : { value: '!', suffix };
}

function scanHandle(cursor: YamlCursor, isDirective: boolean): string {
  if (!cursor.is('!')) throw scannerError("did not find expected '!'", cursor.line);
  const from = cursor.pos;
  cursor.skip();
  cursor.readWhile(() => cursor.isWord());
  if (cursor.is('!')) cursor.skip();
  else if (isDirective && cursor.since(from) !== '!')
    throw scannerError("did not find expected '!'", cursor.line);
  return cursor.since(from);
}

const URI = ";/?:@&=+$,.!~*'()[]%";

/** @param head the handle; if it is not a handle, it is the start of the name */
function scanUri(cursor: YamlCursor, head: string): string {
  let uri = head.slice(1);
  let hasUri = head !== '';
  const isPart = (): boolean => cursor.isWord() || (!cursor.isEnd() && URI.includes(cursor.ahead(1)));
  while (isPart()) {
    uri += cursor.is('%') ? scanOctets(cursor) : cursor.readWhile(() => isPart() && !cursor.is('%'));
    hasUri = true;
  }
  if (!hasUri) throw scannerError('did not find expected tag URI', cursor.line);
  return uri;
}

/** Reads one character as `%xx`, repeated for each of its bytes. */
function scanOctets(cursor: YamlCursor): string {
  let octets = '';
  let width = 0;
  do {
    const digits = /^%([0-9A-Fa-f]{2})$/.exec(cursor.ahead(3))?.[1];
    if (digits === undefined) throw scannerError('did not find URI escaped octet', cursor.line);
    const octet = Number.parseInt(digits, 16);
    if (width === 0) {
      width = octet < 0x80 ? 1 : (octet & 0xe0) === 0xc0 ? 2 : (octet & 0xf0) === 0xe0 ? 3 : 4;
      if ((octet & 0xc0) === 0x80 || octet >= 0xf8)
        throw scannerError('found an incorrect leading UTF-8 octet', cursor.line);
    } else if ((octet & 0xc0) !== 0x80)
      throw scannerError('found an incorrect trailing UTF-8 octet', cursor.line);
    octets += String.fromCharCode(octet);
    cursor.skipTimes(3);
  } while (octets.length < width);
  return octets;
}

/** `%YAML 1.1` or `%TAG !handle! prefix`, with the end of its line. */
export function scanDirective(cursor: YamlCursor): YamlToken {
  const { line } = cursor;
  cursor.skip();
  const name = cursor.readWhile(() => cursor.isWord());
  if (name === '') throw scannerError('could not find expected directive name', cursor.line);
  if (!cursor.isBlankOrEnd()) throw scannerError('found unexpected non-alphabetical character', cursor.line);
  if (name !== 'YAML' && name !== 'TAG') throw scannerError('found unknown directive name', cursor.line);
  cursor.skipBlanks();
  const token =
    name === 'YAML'
      ? yamlToken('version', line, { value: scanVersion(cursor) })
      : yamlToken('tag prefix', line, scanPrefix(cursor));
  cursor.skipBlanks();
  cursor.skipComment();
  if (!cursor.isBreakOrEnd()) throw scannerError('did not find expected comment or line break', cursor.line);
  cursor.readBreak();
  return token;
}

function scanVersion(cursor: YamlCursor): string {
  const major = scanNumber(cursor);
  if (!cursor.is('.')) throw scannerError("did not find expected digit or '.' character", cursor.line);
  cursor.skip();
  return `${major}.${scanNumber(cursor)}`;
}

function scanNumber(cursor: YamlCursor): number {
  let digits = '';
  while (cursor.isDigit()) {
    if (digits.length === 2) throw scannerError('found extremely long version number', cursor.line);
    digits += cursor.ahead(1);
    cursor.skip();
  }
  if (digits === '') throw scannerError('did not find expected version number', cursor.line);
  return Number(digits);
}

function scanPrefix(cursor: YamlCursor): Tag {
  const value = scanHandle(cursor, true);
  if (!cursor.isBlank()) throw scannerError('did not find expected whitespace', cursor.line);
  cursor.skipBlanks();
  const suffix = scanUri(cursor, '');
  if (!cursor.isBlankOrEnd())
    throw scannerError('did not find expected whitespace or line break', cursor.line);
  return { value, suffix };
}
