/**
 * Optional elements of literals: `[?x]` and `{?key: x}` leave out what has no value. The parser does not know them. A
 * question mark that begins an element can be nothing else, so each is read as `!`, which binds to the same operand as
 * no operator would: taking the `!` of that place out of the tree again leaves the element as it was written.
 */
export interface MarkedText {
  /** As long as the expression, so that all offsets stay. */
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

/** Strings with their prefixes, comments, names and numbers, single characters. What is broken is left to the parser. */
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
