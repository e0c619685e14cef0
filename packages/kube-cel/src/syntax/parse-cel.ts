import { BugError } from '@berth/runtime/errors';
import { Environment, ParseError } from '@marcbachmann/cel-js';
import { UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { type CelProblem, celProblem } from '../value/cel-problem.ts';
import { CelDouble, CelUint } from '../value/cel-value.ts';
import type { CelNode } from './cel-node.ts';

/**
 * Text to syntax tree, by the parser of cel-js. Only its grammar is used: its checker and evaluator
 * have no cost limits, count characters in UTF-16 and match with JavaScript's regular expressions
 * (docs/adr/0005-cel.md).
 */

/**
 * Longer expressions are rejected before parsing; the limit of the API server has the same order of
 * magnitude.
 */
const MAX_EXPRESSION_LENGTH = 64 * 1024;

const PARSER = new Environment({
  enableOptionalTypes: true,
  unlistedVariablesAreDyn: true,
  limits: { maxAstNodes: 10_000, maxDepth: 200, maxListElements: 5_000, maxMapEntries: 5_000 },
});

interface LibraryNode {
  readonly op: string;
  readonly args: unknown;
  readonly pos: number;
  readonly end: number;
}

export function parseCel(expression: string): { node: CelNode } | { problem: CelProblem } {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    const message = `expression is ${expression.length} characters long, at most ${MAX_EXPRESSION_LENGTH} are allowed`;
    return { problem: celProblem(expression.slice(0, 80), 0, message) };
  }
  try {
    const marked = markOptionalElements(expression);
    const ast = PARSER.parse(marked.text).ast as unknown as LibraryNode;
    return { node: convert(ast, marked) };
  } catch (error) {
    return { problem: parseProblem(expression, error) };
  }
}

function parseProblem(expression: string, error: unknown): CelProblem {
  if (error instanceof ParseError) {
    const offset = error.range?.start ?? 0;
    return celProblem(expression, offset, `Syntax error: ${error.summary}`);
  }
  // The parser descends recursively; its depth limit does not count unary operators.
  if (error instanceof RangeError) return celProblem(expression, 0, 'Syntax error: nested too deeply');
  throw error;
}

const BINARY = new Set(['==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', 'in', '&&', '||']);

function convert(ast: LibraryNode, source: MarkedText): CelNode {
  const child = (node: unknown): CelNode => convert(node as LibraryNode, source);
  const at = ast.pos;
  switch (ast.op) {
    case 'value':
      return { kind: 'literal', value: literal(ast.args), at };
    case 'id':
      return { kind: 'ident', name: ast.args as string, at };
    case '.':
    case '.?': {
      const [operand, field] = ast.args as [unknown, string];
      const dot = source.text.lastIndexOf('.', at);
      const optional = ast.op === '.?';
      return { kind: 'select', operand: child(operand), field, optional, at: dot < 0 ? at : dot };
    }
    case '[]':
    case '[?]': {
      const [operand, index] = ast.args as [LibraryNode, unknown];
      const bracket = source.text.indexOf('[', operand.end);
      const where = bracket < 0 ? at : bracket;
      return {
        kind: 'index',
        operand: child(operand),
        index: child(index),
        optional: ast.op === '[?]',
        at: where,
      };
    }
    case 'list': {
      const items = ast.args as LibraryNode[];
      return { kind: 'list', items: items.map(child), optional: optionalOf(items, source), at };
    }
    case 'map': {
      const pairs = ast.args as [LibraryNode, LibraryNode][];
      const entries = pairs.map(([k, v]) => [child(k), child(v)] as const);
      const keys = pairs.map(([key]) => key);
      return { kind: 'map', entries, optional: optionalOf(keys, source), at };
    }
    default:
      return convertCall(ast, source);
  }
}

/** Indexes of the elements that start with a question mark. */
function optionalOf(elements: readonly LibraryNode[], { marks }: MarkedText): ReadonlySet<number> {
  if (marks.size === 0) return NONE;
  return new Set(elements.flatMap((element, index) => (marks.has(startOf(element)) ? [index] : [])));
}

const NONE: ReadonlySet<number> = new Set();

/**
 * Offset of the first character of a node; the offset of a binary operator is behind its first
 * operand.
 */
function startOf(node: LibraryNode): number {
  const operands = Array.isArray(node.args) ? (node.args as unknown[]) : [node.args];
  const starts = operands.map((one) => (isNode(one) ? startOf(one) : node.pos));
  return Math.min(node.pos, ...starts);
}

function isNode(value: unknown): value is LibraryNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'pos' in value;
}

function convertCall(ast: LibraryNode, source: MarkedText): CelNode {
  const child = (node: unknown): CelNode => convert(node as LibraryNode, source);
  const at = ast.pos;
  if (ast.op === 'call') {
    const [name, args] = ast.args as [string, unknown[]];
    const open = source.text.indexOf('(', at);
    return { kind: 'call', name, receiver: undefined, args: args.map(child), at: open < 0 ? at : open };
  }
  if (ast.op === 'rcall') {
    const [name, receiver, args] = ast.args as [string, LibraryNode, unknown[]];
    const dot = source.text.indexOf('.', receiver.end);
    const where = dot < 0 ? at : source.text.indexOf('(', dot);
    return { kind: 'call', name, receiver: child(receiver), args: args.map(child), at: where };
  }
  if (ast.op === '!_' || ast.op === '-_') return convertUnary(ast, source);
  if (ast.op === '?:') {
    const parts = ast.args as LibraryNode[];
    const mark = source.text.indexOf('?', parts[0]?.end);
    return { kind: 'call', name: '_?_:_', receiver: undefined, args: parts.map(child), at: mark };
  }
  if (!BINARY.has(ast.op))
    throw new BugError(`unknown node '${ast.op}'`, { code: 'cel.node', subject: source.text });
  const [left, right] = ast.args as [LibraryNode, LibraryNode];
  const operator = source.text.indexOf(ast.op, left.end);
  return {
    kind: 'call',
    name: ast.op === 'in' ? '@in' : `_${ast.op}_`,
    receiver: undefined,
    args: [child(left), child(right)],
    at: operator < 0 || operator >= right.pos ? at : operator,
  };
}

function convertUnary(ast: LibraryNode, source: MarkedText): CelNode {
  const operand = convert(ast.args as LibraryNode, source);
  if (source.marks.has(ast.pos)) return operand;
  // The sign is part of the number; otherwise the smallest int could not be written.
  if (ast.op === '-_' && operand.kind === 'literal') {
    if (typeof operand.value === 'bigint') return { kind: 'literal', value: -operand.value, at: ast.pos };
    if (operand.value instanceof CelDouble)
      return { kind: 'literal', value: new CelDouble(-operand.value.value), at: ast.pos };
  }
  const name = ast.op === '!_' ? '!_' : '-_';
  return { kind: 'call', name, receiver: undefined, args: [operand], at: ast.pos };
}

function literal(value: unknown): null | boolean | string | bigint | CelDouble | CelUint | Uint8Array {
  if (typeof value === 'number') return new CelDouble(value);
  if (value instanceof UnsignedInt) return new CelUint(BigInt(value.value));
  return value as null | boolean | string | bigint | Uint8Array;
}

/**
 * Optional elements of literals: `[?x]` and `{?key: x}` leave out what has no value. cel-js does
 * not parse them. A question mark at the start of an element is always such a mark, so each is
 * replaced by `!` before parsing, and the `!` node at that offset is removed from the tree
 * afterwards.
 */
interface MarkedText {
  /** Has the length of the expression, so that all offsets stay the same. */
  readonly text: string;
  /** Offsets of the question marks. */
  readonly marks: ReadonlySet<number>;
}

function markOptionalElements(expression: string): MarkedText {
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
