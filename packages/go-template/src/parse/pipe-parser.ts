import { quote } from '../text/quote.ts';
import { unquote } from '../text/unquote.ts';
import { GoError } from '../value/go-error.ts';
import { MAX_NESTING } from '../value/work.ts';
import type { ChainNode, CommandNode, NumberNode, Operand, PipeNode, VariableNode } from './node.ts';
import { nodeText } from './node-text.ts';
import { numberNode } from './number-node.ts';
import type { Token, TokenKind } from './token.ts';
import type { TokenReader } from './token-reader.ts';

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
