import { quote, unquote } from '../text/quote.ts';
import { trimSpaceBytes } from '../text/bytes.ts';
import { GoError } from '../value/go-error.ts';
import type { Lexer } from './lexer.ts';
import {
  type BranchNode,
  type EndNode,
  type ListNode,
  nodeText,
  type StatementNode,
  type Template,
  type TemplateNode,
} from './node.ts';
import { PipeParser } from './pipe-parser.ts';
import { TokenReader } from './token-reader.ts';

/** What all templates of one text share. */
export interface ParseContext {
  readonly lexer: Lexer;
  readonly name: string;
  readonly isFunction: (name: string) => boolean;
  readonly templates: Map<string, Template>;
}

/** Reads one template: the whole text, or the inside of a define or a block (text/template/parse/parse.go). */
export class TemplateParser {
  readonly #context: ParseContext;
  readonly #tokens: TokenReader;
  readonly #pipes: PipeParser;
  #rangeDepth = 0;

  constructor(context: ParseContext) {
    this.#context = context;
    this.#tokens = new TokenReader(context.lexer, context.name);
    this.#pipes = new PipeParser(this.#tokens, context.isFunction);
  }

  /** The whole text, with its definitions. */
  parseAll(): void {
    const tokens = this.#tokens;
    const root: ListNode = { kind: 'list', pos: tokens.peek().pos, nodes: [] };
    while (tokens.peek().kind !== 'EOF') {
      if (tokens.peek().kind === 'leftDelim') {
        const delim = tokens.next();
        if (tokens.nextNonSpace().kind === 'define') {
          new TemplateParser(this.#context).#definition();
          continue;
        }
        tokens.backup2(delim);
      }
      const node = this.#textOrAction();
      if (isEnd(node)) return tokens.fail(`unexpected ${nodeText(node)}`);
      root.nodes.push(node);
    }
    this.#add({ name: this.#context.name, root });
  }

  #definition(): void {
    const tokens = this.#tokens;
    const token = tokens.nextNonSpace();
    if (token.kind !== 'string' && token.kind !== 'rawString') tokens.unexpected(token, 'define clause');
    const name = this.#unquoted(token.val);
    tokens.expect('rightDelim', 'define clause');
    this.#body(name, 'define clause');
  }

  /** The statements of a definition or of a block, up to its end. */
  #body(name: string, context: string): void {
    const { list, end } = this.#itemList();
    if (end.kind !== 'end') this.#tokens.fail(`unexpected ${nodeText(end)} in ${context}`);
    this.#add({ name, root: list });
  }

  #add(template: Template): void {
    const { templates } = this.#context;
    const known = templates.get(template.name);
    if (known === undefined || isEmpty(known.root)) templates.set(template.name, template);
    else if (!isEmpty(template.root))
      this.#tokens.fail(`template: multiple definition of template ${quote(template.name)}`);
  }

  #unquoted(text: string): string {
    return unquote(text) ?? this.#tokens.fail('invalid syntax');
  }

  #itemList(): { readonly list: ListNode; readonly end: EndNode } {
    const tokens = this.#tokens;
    const list: ListNode = { kind: 'list', pos: tokens.peekNonSpace().pos, nodes: [] };
    while (tokens.peekNonSpace().kind !== 'EOF') {
      const node = this.#textOrAction();
      if (isEnd(node)) return { list, end: node };
      list.nodes.push(node);
    }
    return tokens.fail('unexpected EOF');
  }

  #textOrAction(): StatementNode | EndNode {
    const tokens = this.#tokens;
    const token = tokens.nextNonSpace();
    if (token.kind === 'text') return { kind: 'text', pos: token.pos, text: token.val };
    if (token.kind !== 'leftDelim') return tokens.unexpected(token, 'input');
    tokens.actionLine = token.line;
    const node = this.#action();
    tokens.actionLine = 0;
    return node;
  }

  #action(): StatementNode | EndNode {
    const tokens = this.#tokens;
    const token = tokens.nextNonSpace();
    switch (token.kind) {
      case 'block':
        return this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token.kind, token.pos);
      case 'else':
        return this.#else();
      case 'end':
        return { kind: 'end', pos: tokens.expect('rightDelim', 'end').pos };
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.kind);
      case 'template':
        return this.#template();
      default: {
        tokens.backup();
        const { pos } = tokens.peek();
        return { kind: 'action', pos, pipe: this.#pipes.pipeline('command', 'rightDelim') };
      }
    }
  }

  #jump(kind: 'break' | 'continue', pos: number): StatementNode {
    const token = this.#tokens.nextNonSpace();
    if (token.kind !== 'rightDelim') this.#tokens.unexpected(token, `{{${kind}}}`);
    if (this.#rangeDepth === 0) this.#tokens.fail(`{{${kind}}} outside {{range}}`);
    return { kind, pos };
  }

  #else(): EndNode {
    const next = this.#tokens.peekNonSpace();
    if (next.kind === 'if' || next.kind === 'with') return { kind: 'else', pos: next.pos };
    return { kind: 'else', pos: this.#tokens.expect('rightDelim', 'else').pos };
  }

  #branch(kind: BranchNode['kind']): BranchNode {
    const variables = this.#pipes.variables.length;
    const pipe = this.#pipes.pipeline(kind, 'rightDelim');
    if (kind === 'range') this.#rangeDepth++;
    const { list, end } = this.#itemList();
    if (kind === 'range') this.#rangeDepth--;
    const elseList = end.kind === 'else' ? this.#elseList(kind, end.pos) : undefined;
    this.#pipes.variables.length = variables;
    return { kind, pos: pipe.pos, pipe, list, elseList };
  }

  /**
   * Reads an else. `{{else if …}}` and `{{else with …}}` share the end of the statement that they
   * belong to.
   */
  #elseList(kind: BranchNode['kind'], pos: number): ListNode {
    if (kind !== 'range' && this.#tokens.peek().kind === kind) {
      this.#tokens.next();
      return { kind: 'list', pos, nodes: [this.#branch(kind)] };
    }
    const { list, end } = this.#itemList();
    if (end.kind !== 'end') this.#tokens.fail(`expected end; found ${nodeText(end)}`);
    return list;
  }

  #templateName(context: string): { readonly name: string; readonly pos: number } {
    const token = this.#tokens.nextNonSpace();
    if (token.kind !== 'string' && token.kind !== 'rawString') this.#tokens.unexpected(token, context);
    return { name: this.#unquoted(token.val), pos: token.pos };
  }

  #template(): TemplateNode {
    const { name, pos } = this.#templateName('template clause');
    if (this.#tokens.nextNonSpace().kind === 'rightDelim')
      return { kind: 'template', pos, name, pipe: undefined };
    this.#tokens.backup();
    return { kind: 'template', pos, name, pipe: this.#pipes.pipeline('template clause', 'rightDelim') };
  }

  /** Reads a `{{block}}`, which is a definition and its use in one. */
  #block(): TemplateNode {
    const { name, pos } = this.#templateName('block clause');
    const pipe = this.#pipes.pipeline('block clause', 'rightDelim');
    new TemplateParser(this.#context).#body(name, 'block clause');
    return { kind: 'template', pos, name, pipe };
  }
}

function isEnd(node: StatementNode | EndNode): node is EndNode {
  return node.kind === 'end' || node.kind === 'else';
}

/** Whether a template contains only white space. Such a definition does not replace another one. */
export function isEmpty(root: ListNode): boolean {
  return root.nodes.every((node) => node.kind === 'text' && trimSpaceBytes(node.text) === '');
}

/**
 * The templates of a text by name, including the text itself.
 *
 * @throws GoError with the text of Go, such as `template: base:1: unexpected EOF`
 */
export function parseTemplates(context: Omit<ParseContext, 'templates'>): ReadonlyMap<string, Template> {
  const templates = new Map<string, Template>();
  try {
    new TemplateParser({ ...context, templates }).parseAll();
  } catch (error) {
    if (error instanceof RangeError) throw new GoError(`template: ${context.name}: nested too deep`);
    throw error;
  }
  return templates;
}
