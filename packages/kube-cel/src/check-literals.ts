import { compilePattern } from './library/regex.ts';
import { parseDuration, parseTimestamp } from './library/time.ts';
import type { CelNode } from './syntax/cel-node.ts';
import { parseCel } from './syntax/parse-cel.ts';
import type { CelProblem } from './value/cel-problem.ts';
import { celProblem } from './value/cel-problem.ts';
import { CelFailure } from './value/cel-value.ts';

/** Checks of constant arguments, by function. Source: cel-go `cel/validator.go`. */
const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  matches: (text) => !(compilePattern(text) instanceof CelFailure),
  timestamp: (text) => 'nanos' in parseTimestamp(text),
  duration: (text) => 'nanos' in parseDuration(text),
};

/** The first constant pattern, time or duration that is invalid. */
export function literalProblem(expression: string): CelProblem | undefined {
  const parsed = parseCel(expression);
  if ('problem' in parsed) return undefined;
  const found = firstBad(parsed.node);
  return found && celProblem(expression, found.at, `invalid ${found.name} argument`);
}

function firstBad(node: CelNode): { readonly at: number; readonly name: string } | undefined {
  const own = node.kind === 'call' ? badArgument(node) : undefined;
  if (own !== undefined) return own;
  for (const part of partsOf(node)) {
    const found = firstBad(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function badArgument(node: Extract<CelNode, { kind: 'call' }>) {
  const { name } = node;
  const last = node.args.at(-1);
  if (!Object.hasOwn(CHECKS, name) || last?.kind !== 'literal' || typeof last.value !== 'string')
    return undefined;
  return CHECKS[name]?.(last.value) === true ? undefined : { at: last.at, name };
}

function partsOf(node: CelNode): readonly CelNode[] {
  switch (node.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [node.operand];
    case 'index':
      return [node.operand, node.index];
    case 'list':
      return node.items;
    case 'map':
      return node.entries.flat();
    case 'call':
      return node.receiver === undefined ? node.args : [node.receiver, ...node.args];
  }
}
