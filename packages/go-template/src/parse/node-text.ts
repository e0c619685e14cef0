import { quote } from '../text/quote.ts';
import type { BranchNode, ChainNode, CommandNode, Node, PipeNode } from './node.ts';

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
