import { parseFloat64, parseInt64, parseUint } from '../text/parse-number.ts';
import { quote, unquote, unquoteChar } from '../text/quote.ts';
import { GoError } from '../value/go-error.ts';
import { MAX_NESTING } from '../value/work.ts';
import {
  type ChainNode,
  type CommandNode,
  nodeText,
  type NumberNode,
  type Operand,
  type PipeNode,
  type VariableNode,
} from './node.ts';
import type { TokenReader } from './token-reader.ts';
import type { Token, TokenKind } from './lexer.ts';

const OPERANDS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'bool',
  'charConstant',
  'complex',
  '.',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]);
const NOT_EXECUTABLE: ReadonlySet<string> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

/** Reads pipelines, which are the content of actions. */
export class PipeParser {
  readonly #tokens: TokenReader;
  readonly #isFunction: (name: string) => boolean;
  /** The variables that are declared at the position of the parser. */
  readonly variables: string[] = ['$'];
  #depth = 0;

  constructor(tokens: TokenReader, isFunction: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#isFunction = isFunction;
  }

  pipeline(context: string, end: TokenKind): PipeNode {
    const tokens = this.#tokens;
    const pipe: PipeNode = {
      kind: 'pipe',
      pos: tokens.peekNonSpace().pos,
      isAssign: false,
      decl: [],
      cmds: [],
    };
    this.#declarations(pipe, context);
    for (;;) {
      const token = tokens.nextNonSpace();
      if (token.kind === end) {
        this.#check(pipe, context);
        return pipe;
      }
      if (!OPERANDS.has(token.kind)) tokens.unexpected(token, context);
      tokens.backup();
      pipe.cmds.push(this.#command());
    }
  }

  #declarations(pipe: PipeNode, context: string): void {
    const tokens = this.#tokens;
    while (tokens.peekNonSpace().kind === 'variable') {
      const variable = tokens.nextNonSpace();
      const after = tokens.peek();
      const next = tokens.peekNonSpace();
      const isComma = next.kind === 'char' && next.val === ',';
      if (next.kind !== 'assign' && next.kind !== 'declare' && !isComma) {
        // It is an argument. The space separates it from the next one, so the space must be read
        // again.
        if (after.kind === 'space') tokens.pushBack(variable, after);
        else tokens.pushBack(variable);
        return;
      }
      tokens.nextNonSpace();
      pipe.decl.push(variableNode(variable.pos, variable.val));
      this.variables.push(variable.val);
      if (!isComma) {
        pipe.isAssign = next.kind === 'assign';
        return;
      }
      if (context !== 'range' || pipe.decl.length >= 2) tokens.fail(`too many declarations in ${context}`);
      if (!['variable', 'rightDelim', 'rightParen'].includes(tokens.peekNonSpace().kind))
        tokens.fail('range can only initialize variables');
    }
  }

  #check(pipe: PipeNode, context: string): void {
    if (pipe.cmds.length === 0) this.#tokens.fail(`missing value for ${context}`);
    pipe.cmds.slice(1).forEach(({ args }, index) => {
      if (NOT_EXECUTABLE.has(args[0]?.kind ?? ''))
        this.#tokens.fail(`non executable command in pipeline stage ${index + 2}`);
    });
  }

  #command(): CommandNode {
    const tokens = this.#tokens;
    const command: CommandNode = { kind: 'command', pos: tokens.peekNonSpace().pos, args: [] };
    for (;;) {
      tokens.peekNonSpace();
      const operand = this.#operand();
      if (operand !== undefined) command.args.push(operand);
      const token = tokens.next();
      if (token.kind === 'space') continue;
      if (token.kind === 'rightDelim' || token.kind === 'rightParen') tokens.backup();
      else if (token.kind !== 'pipe') tokens.unexpected(token, 'operand');
      break;
    }
    if (command.args.length === 0) tokens.fail('empty command');
    return command;
  }

  #operand(): Operand | undefined {
    const tokens = this.#tokens;
    const node = this.#term();
    if (node === undefined || tokens.peek().kind !== 'field') return node;
    const chain: ChainNode = { kind: 'chain', pos: tokens.peek().pos, node, fields: [] };
    while (tokens.peek().kind === 'field') chain.fields.push(tokens.next().val.slice(1));
    if (node.kind === 'field')
      return { kind: 'field', pos: chain.pos, ident: [...node.ident, ...chain.fields] };
    if (node.kind === 'variable')
      return { kind: 'variable', pos: chain.pos, ident: [...node.ident, ...chain.fields] };
    if (NOT_EXECUTABLE.has(node.kind)) tokens.fail(`unexpected . after term ${quote(nodeText(node))}`);
    return chain;
  }

  #term(): Operand | undefined {
    const token = this.#tokens.nextNonSpace();
    const { pos, val } = token;
    switch (token.kind) {
      case 'identifier':
        if (!this.#isFunction(val)) this.#tokens.fail(`function ${quote(val)} not defined`);
        return { kind: 'identifier', pos, name: val };
      case '.':
        return { kind: 'dot', pos };
      case 'nil':
        return { kind: 'nil', pos };
      case 'variable':
        return this.#variable(token);
      case 'field':
        return { kind: 'field', pos, ident: [val.slice(1)] };
      case 'bool':
        return { kind: 'bool', pos, value: val === 'true' };
      case 'charConstant':
      case 'complex':
      case 'number':
        return this.#number(token);
      case 'leftParen':
        return this.#parenthesized();
      case 'string':
      case 'rawString':
        return {
          kind: 'string',
          pos,
          quoted: val,
          text: unquote(val) ?? this.#tokens.fail('invalid syntax'),
        };
      default:
        this.#tokens.backup();
        return undefined;
    }
  }

  #parenthesized(): PipeNode {
    if (this.#depth >= MAX_NESTING) this.#tokens.fail('max expression depth exceeded');
    this.#depth++;
    const pipe = this.pipeline('parenthesized pipeline', 'rightParen');
    this.#depth--;
    return pipe;
  }

  #number(token: Token): NumberNode {
    try {
      return numberNode(token);
    } catch (error) {
      if (error instanceof GoError) this.#tokens.fail(error.message);
      throw error;
    }
  }

  #variable({ pos, val }: Token): VariableNode {
    if (!this.variables.includes(val)) this.#tokens.fail(`undefined variable ${quote(val)}`);
    return variableNode(pos, val);
  }
}

function variableNode(pos: number, name: string): VariableNode {
  return { kind: 'variable', pos, ident: [name] };
}

/**
 * A numeric constant (newNumber).
 * @throws GoError if it is not a number
 */
function numberNode({ kind, val: text, pos }: Token): NumberNode {
  const node = { kind: 'number', pos, text } as const;
  if (kind === 'charConstant') return { ...node, ...character(text) };
  if (kind === 'complex') return { ...node, ...complexPair(text) };
  if (text.endsWith('i')) {
    const im = parseFloat64(text.slice(0, -1));
    if (typeof im === 'number') return { ...node, complex: { re: 0, im }, ...(im === 0 ? realPart(0) : {}) };
  }
  const int = parseInt64(text);
  const uint = typeof int === 'bigint' && int === 0n ? 0n : parseUint(text);
  if (typeof int === 'bigint')
    return { ...node, int, float: Number(int), ...(typeof uint === 'bigint' ? { uint } : {}) };
  if (typeof uint === 'bigint') return { ...node, uint, float: Number(uint) };
  const float = parseFloat64(text);
  if (typeof float !== 'number') throw new GoError(`illegal number syntax: ${quote(text)}`);
  if (!/[.eEpP]/.test(text)) throw new GoError(`integer overflow: ${quote(text)}`);
  return { ...node, ...realPart(float) };
}

function character(text: string): Partial<NumberNode> {
  const char = unquoteChar(text, 1, "'");
  if (char === undefined) throw new GoError('invalid syntax');
  if (text.slice(1 + char.width) !== "'") throw new GoError(`malformed character constant: ${text}`);
  return { int: BigInt(char.rune), uint: BigInt(char.rune), float: char.rune };
}

function complexPair(text: string): Partial<NumberNode> {
  const [, real = '', imaginary = ''] = /^(.+?[^eEpP])([-+].*)i$/.exec(text) ?? [];
  const [re, im] = [parseFloat64(real), parseFloat64(imaginary)];
  if (typeof re !== 'number' || typeof im !== 'number')
    throw new GoError('syntax error scanning complex number');
  return { complex: { re, im }, ...(im === 0 ? realPart(re) : {}) };
}

/** A float, and the integers that are equal to it. */
function realPart(float: number): Partial<NumberNode> {
  const int = Number.isInteger(float) ? BigInt(float) : undefined;
  const fits = int !== undefined && BigInt.asIntN(64, int) === int;
  const unsigned = int !== undefined && BigInt.asUintN(64, int) === int;
  return { float, ...(fits ? { int } : {}), ...(unsigned ? { uint: int } : {}) };
}
