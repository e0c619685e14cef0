import { sprintf } from '../fmt/sprintf.ts';
import { STRING, valueOf } from '../value/go-type.ts';

export type TokenKind =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'comment'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'EOF'
  | 'field'
  | 'identifier'
  | 'leftDelim'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelim'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword;

export type Keyword =
  | '.'
  | 'block'
  | 'break'
  | 'continue'
  | 'define'
  | 'else'
  | 'end'
  | 'if'
  | 'nil'
  | 'range'
  | 'template'
  | 'with';

const KEYWORDS: ReadonlySet<string> = new Set<Keyword>([
  '.',
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
]);

export function isKeyword(word: string): word is Keyword {
  return KEYWORDS.has(word);
}

export interface Token {
  readonly kind: TokenKind;
  readonly pos: number;
  readonly val: string;
  readonly line: number;
}

/** A token as it is named in an error. */
export function describeToken({ kind, val }: Token): string {
  if (kind === 'EOF') return 'EOF';
  if (kind === 'error') return val;
  if (isKeyword(kind)) return `<${val}>`;
  return sprintf(val.length > 10 ? '%.10q...' : '%q', [valueOf(STRING, val)]);
}
