/**
 * Optional elements of literals: `[?x]` and `{?key: x}` leave out what has no value. cel-js does
 * not parse them. A question mark at the start of an element is always such a mark, so each is
 * replaced by `!` before parsing, and the `!` node at that offset is removed from the tree
 * afterwards.
 */
export interface MarkedText {
  /** Has the length of the expression, so that all offsets stay the same. */
  readonly text: string;
  /** Offsets of the question marks. */
  readonly marks: ReadonlySet<number>;
}

export function markOptionalElements(expression: string): MarkedText {
  const marks = new Set<number>();
  if (!expression.includes('?')) return { text: expression, marks };
  const open: ('literal' | 'other')[] = [];
  let before = '';
  for (const { text, at } of tokens(expression)) {
    const startsElement = before === ',' || before === '[' || before === '{';
    if (text === '?' && startsElement && open.at(-1) === 'literal') marks.add(at);
    else if (text === '[' || text === '{')
      open.push(text === '[' && isOperandEnd(before) ? 'other' : 'literal');
    else if (text === '(') open.push('other');
    else if (text === ')' || text === ']' || text === '}') open.pop();
    before = text;
  }
  const chars = expression.split('');
  for (const at of marks) chars[at] = '!';
  return { text: chars.join(''), marks };
}

/**
 * Strings with their prefixes, comments, names and numbers, single characters. Syntax errors are
 * left to the parser.
 */
const TOKEN =
  /\/\/[^\n]*|[rRbB]{0,2}(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[\w.]+|\S/gy;
const SPACE = /\s*/y;

function* tokens(expression: string): Generator<{ readonly text: string; readonly at: number }> {
  for (let at = 0; ; ) {
    SPACE.lastIndex = at;
    SPACE.exec(expression);
    TOKEN.lastIndex = SPACE.lastIndex;
    const [text] = TOKEN.exec(expression) ?? [];
    if (text === undefined) return;
    if (!text.startsWith('//')) yield { text, at: TOKEN.lastIndex - text.length };
    at = TOKEN.lastIndex;
  }
}

/** Behind an operand a bracket opens an index, not a list. */
function isOperandEnd(token: string): boolean {
  return token !== 'in' && /[\w"')\]}]$/.test(token);
}
