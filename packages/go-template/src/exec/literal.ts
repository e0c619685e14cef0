import type { NumberNode, Operand } from '../parse/node.ts';
import { nodeText } from '../parse/node-text.ts';
import { quote } from '../text/quote.ts';
import type { GoType, Value } from '../value/go-type.ts';
import { BOOL, COMPLEX128, FLOAT64, INT, REFLECT, STRING } from '../value/go-type.ts';
import type { Run } from './run.ts';

/** The value of a literal. */
export function constant(run: Run, node: Operand): Value | undefined {
  if (node.kind === 'bool') return { type: BOOL, data: node.value };
  if (node.kind === 'string') return { type: STRING, data: node.text };
  if (node.kind === 'number') return idealConstant(run, node);
  return run.fail(`can't evaluate command ${quote(nodeText(node))}`);
}

/** The value of a number. The notation determines its type. */
function idealConstant(run: Run, node: NumberNode): Value | undefined {
  run.at = node;
  if (node.complex !== undefined) return { type: COMPLEX128, data: node.complex };
  const { text } = node;
  const isHexInt = /^0[xX]./.test(text) && !/[pP]/.test(text);
  if (node.float !== undefined && !isHexInt && !text.startsWith("'") && /[.eEpP]/.test(text))
    return { type: FLOAT64, data: node.float };
  if (node.int !== undefined) return { type: INT, data: node.int };
  if (node.uint !== undefined) run.fail(`${text} overflows int`);
  return undefined;
}

/** A literal as an argument. It gets the type of the parameter. */
export function literal(run: Run, type: GoType | undefined, arg: Operand): Value | undefined {
  const text = nodeText(arg);
  if (type === undefined) return constant(run, arg);
  switch (type.kind) {
    case 'bool':
      return arg.kind === 'bool' ? { type, data: arg.value } : run.fail(`expected bool; found ${text}`);
    case 'string':
      return arg.kind === 'string' ? { type, data: arg.text } : run.fail(`expected string; found ${text}`);
    case 'interface':
      return constant(run, arg);
    case 'struct':
      return type === REFLECT
        ? constant(run, arg)
        : run.fail(`can't handle ${text} for arg of type ${type.name}`);
    case 'slice':
    case 'map':
    case 'ptr':
    case 'func':
      return run.fail(`can't handle ${text} for arg of type ${type.name}`);
    default:
      return number(run, type, arg);
  }
}

const NUMBERS: Readonly<Record<string, readonly [words: string, of: (node: NumberNode) => unknown]>> = {
  float64: ['float', (node) => node.float],
  complex128: ['complex', (node) => node.complex],
  uint8: ['unsigned integer', (node) => node.uint],
  uint32: [
    'unsigned integer',
    (node) => (node.uint === undefined ? undefined : BigInt.asUintN(32, node.uint)),
  ],
  uint64: ['unsigned integer', (node) => node.uint],
  int32: ['integer', (node) => (node.int === undefined ? undefined : BigInt.asIntN(32, node.int))],
};

function number(run: Run, type: GoType, arg: Operand): Value {
  const [words, of] = NUMBERS[type.kind] ?? ['integer', (node: NumberNode): unknown => node.int];
  const data = arg.kind === 'number' ? of(arg) : undefined;
  return data === undefined ? run.fail(`expected ${words}; found ${nodeText(arg)}`) : { type, data };
}
