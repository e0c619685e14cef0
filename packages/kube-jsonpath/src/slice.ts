import { goTypeName } from '@berth/runtime/json/json-float';
import type { PathNode } from './path-node.ts';

/** With an error, `values` are the input. */
interface Cut {
  readonly values: readonly unknown[];
  readonly error?: string;
}

/**
 * `[1]`, `[-1]`, `[0:2]`, `[::2]`, `[*]` on each value. Bounds must be in the list, except that an empty range
 * is always empty; it also ends the walk over the remaining values.
 * Source: client-go `util/jsonpath/jsonpath.go`, evalArray.
 */
export function cutSlice(input: readonly unknown[], node: Extract<PathNode, { type: 'slice' }>): Cut {
  const values: unknown[] = [];
  for (const value of input) {
    if (value === null || value === undefined) continue;
    if (!Array.isArray(value)) return { values: input, error: `${goTypeName(value)} is not array or slice` };
    const list = value as readonly unknown[];
    const [from, to] = bounds(node, list.length);
    if (from === to) return { values };
    const error = outOfBounds(from, to, list.length);
    if (error !== undefined) return { values: input, error };
    const step = node.step.known ? node.step.value : 1;
    if (step <= 0) return { values: input, error: 'step must be > 0' };
    for (let index = from; index < to; index += step) values.push(list[index]);
  }
  return { values };
}

function bounds(node: Extract<PathNode, { type: 'slice' }>, length: number): readonly [number, number] {
  const from = node.from.known ? node.from.value : 0;
  if (!node.to.known) return [from < 0 ? from + length : from, length];
  const to = node.to.value;
  const fromEnd = to < 0 || (to === 0 && node.to.derived === true);
  return [from < 0 ? from + length : from, fromEnd ? to + length : to];
}

function outOfBounds(from: number, to: number, length: number): string | undefined {
  if (from >= length || from < 0) return `array index out of bounds: index ${from}, length ${length}`;
  if (to > length || to < 0) return `array index out of bounds: index ${to - 1}, length ${length}`;
  if (from > to) return `starting index ${from} is greater than ending index ${to}`;
  return undefined;
}
