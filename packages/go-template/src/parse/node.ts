import { quote } from '../text/quote.ts';
import type { Complex } from '../value/go-type.ts';

/** The tree of a template (text/template/parse/node.go). `pos` is a byte in the text of the template. */
interface At {
  readonly pos: number;
}

export interface ListNode extends At {
  readonly kind: 'list';
  readonly nodes: StatementNode[];
}
export interface TextNode extends At {
  readonly kind: 'text';
  readonly text: string;
}
export interface ActionNode extends At {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}
export interface BranchNode extends At {
  readonly kind: 'if' | 'range' | 'with';
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}
export interface TemplateNode extends At {
  readonly kind: 'template';
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}
export interface JumpNode extends At {
  readonly kind: 'break' | 'continue';
}
export type StatementNode = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;

/** The end of a list of statements. */
export interface EndNode extends At {
  readonly kind: 'end' | 'else';
}

export interface PipeNode extends At {
  readonly kind: 'pipe';
  isAssign: boolean;
  readonly decl: VariableNode[];
  readonly cmds: CommandNode[];
}
export interface CommandNode extends At {
  readonly kind: 'command';
  readonly args: Operand[];
}

export interface IdentifierNode extends At {
  readonly kind: 'identifier';
  readonly name: string;
}
export interface VariableNode extends At {
  readonly kind: 'variable';
  readonly ident: readonly string[];
}
export interface FieldNode extends At {
  readonly kind: 'field';
  readonly ident: readonly string[];
}
export interface ChainNode extends At {
  readonly kind: 'chain';
  readonly node: Operand;
  readonly fields: string[];
}
export interface DotNode extends At {
  readonly kind: 'dot' | 'nil';
}
export interface BoolNode extends At {
  readonly kind: 'bool';
  readonly value: boolean;
}
/** A constant as every kind of number that it can be. */
export interface NumberNode extends At {
  readonly kind: 'number';
  readonly text: string;
  readonly int?: bigint;
  readonly uint?: bigint;
  readonly float?: number;
  readonly complex?: Complex;
}
export interface StringNode extends At {
  readonly kind: 'string';
  readonly quoted: string;
  readonly text: string;
}
export type Operand =
  | IdentifierNode
  | VariableNode
  | FieldNode
  | ChainNode
  | DotNode
  | BoolNode
  | NumberNode
  | StringNode
  | PipeNode;

export type Node = ListNode | StatementNode | EndNode | PipeNode | CommandNode | Operand;

/** A template by its name, as `define` makes it. */
export interface Template {
  readonly name: string;
  readonly root: ListNode;
  /** The byte string that it was read from, where that is not the text of the program. */
  readonly text?: string;
}

/** A node as errors show it: the method String of Go's nodes. */
export function nodeText(node: Node): string {
  switch (node.kind) {
    case 'list':
      return node.nodes.map(nodeText).join('');
    case 'text':
      return node.text;
    case 'action':
      return `{{${pipeText(node.pipe)}}}`;
    case 'if':
    case 'range':
    case 'with':
      return branchText(node);
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe === undefined ? '' : ` ${pipeText(node.pipe)}`}}}`;
    case 'break':
    case 'continue':
    case 'end':
    case 'else':
      return `{{${node.kind}}}`;
    case 'pipe':
      return pipeText(node);
    case 'command':
      return commandText(node);
    case 'identifier':
      return node.name;
    case 'variable':
      return node.ident.join('.');
    case 'field':
      return node.ident.map((name) => `.${name}`).join('');
    case 'chain':
      return chainText(node);
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
  }
}

function pipeText({ decl, cmds, isAssign }: PipeNode): string {
  const commands = cmds.map(commandText).join(' | ');
  if (decl.length === 0) return commands;
  return `${decl.map(nodeText).join(', ')} ${isAssign ? '=' : ':='} ${commands}`;
}

function commandText({ args }: CommandNode): string {
  return args.map((arg) => (arg.kind === 'pipe' ? `(${pipeText(arg)})` : nodeText(arg))).join(' ');
}

function chainText({ node, fields }: ChainNode): string {
  const text = node.kind === 'pipe' ? `(${pipeText(node)})` : nodeText(node);
  return text + fields.map((field) => `.${field}`).join('');
}

function branchText({ kind, pipe, list, elseList }: BranchNode): string {
  const otherwise = elseList === undefined ? '' : `{{else}}${nodeText(elseList)}`;
  return `{{${kind} ${pipeText(pipe)}}}${nodeText(list)}${otherwise}{{end}}`;
}
