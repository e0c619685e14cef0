import { quote } from '../text/quote.ts';
import { parseFloat64, parseInt64, parseUint } from '../text/parse-number.ts';
import { unquoteChar } from '../text/unquote.ts';
import { GoError } from '../value/go-error.ts';
import type { NumberNode } from './node.ts';
import type { Token } from './token.ts';

/**
 * A numeric constant (newNumber).
 * @throws GoError if it is not a number
 */
export function numberNode({ kind, val: text, pos }: Token): NumberNode {
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
