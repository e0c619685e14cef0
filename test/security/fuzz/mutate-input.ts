/**
 * Changes an input as a byte fuzzer does: flipped bits, bytes and numbers at their limits, parts that are deleted, repeated, moved
 * or taken from another input, and words of the input language. All randomness comes from `random`.
 */
export interface MutationSource {
  readonly random: () => number;
  readonly dictionary: readonly Uint8Array[];
  /** Another input to take a part from. */
  readonly other: () => Uint8Array;
  readonly maxBytes: number;
}

const EXTREME_BYTES = [0x00, 0x01, 0x0a, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0xc0, 0xed, 0xff];
const EXTREME_NUMBERS = ['0', '-1', '65536', '2147483648', '9007199254740993', '1e400', '-0', '0.1'].map(
  (text) => new TextEncoder().encode(text),
);

type Mutation = (input: Uint8Array, source: MutationSource) => Uint8Array;

const below = (random: () => number, limit: number): number => Math.floor(random() * limit);
const pick = <T>(random: () => number, list: readonly T[]): T => list[below(random, list.length)] as T;

/** Start and end of a random part; most parts are short. */
function part(random: () => number, length: number): readonly [number, number] {
  const start = below(random, length + 1);
  const size = random() < 0.8 ? below(random, 16) + 1 : below(random, length + 1);
  return [start, Math.min(length, start + size)];
}

function replace(input: Uint8Array, [start, end]: readonly [number, number], by: Uint8Array): Uint8Array {
  const result = new Uint8Array(input.length - (end - start) + by.length);
  result.set(input.subarray(0, start));
  result.set(by, start);
  result.set(input.subarray(end), start + by.length);
  return result;
}

function overwrite(input: Uint8Array, at: number, byte: number): Uint8Array {
  const result = Uint8Array.from(input);
  if (at < result.length) result[at] = byte;
  return result;
}

const MUTATIONS: readonly Mutation[] = [
  (input, { random }) => {
    const at = below(random, input.length);
    return overwrite(input, at, (input[at] ?? 0) ^ (1 << below(random, 8)));
  },
  (input, { random }) => overwrite(input, below(random, input.length), pick(random, EXTREME_BYTES)),
  (input, { random }) => replace(input, part(random, input.length), new Uint8Array()),
  (input, { random, dictionary }) => {
    const at = below(random, input.length + 1);
    return replace(input, [at, at], pick(random, dictionary));
  },
  (input, { random, dictionary }) => replace(input, part(random, input.length), pick(random, dictionary)),
  (input, { random }) => replace(input, part(random, input.length), pick(random, EXTREME_NUMBERS)),
  (input, { random, other }) => {
    const from = other();
    const [start, end] = part(random, from.length);
    return replace(input, part(random, input.length), from.subarray(start, end));
  },
  repeatPart,
  (input, { random }) => input.subarray(0, below(random, input.length + 1)),
];

/** A part again and again, sometimes hundreds of times: depth and width come from here. */
function repeatPart(input: Uint8Array, { random, maxBytes }: MutationSource): Uint8Array {
  const [start, end] = part(random, input.length);
  const piece = input.subarray(start, end);
  const wanted = random() < 0.9 ? below(random, 4) + 1 : below(random, 400) + 1;
  const times = Math.min(wanted, Math.floor((maxBytes - input.length) / Math.max(1, piece.length)));
  if (times < 1) return input;
  const repeated = new Uint8Array(piece.length * times);
  for (let at = 0; at < times; at += 1) repeated.set(piece, at * piece.length);
  return replace(input, [end, end], repeated);
}

/** One to eight changes, one after the other. */
export function mutateInput(input: Uint8Array, source: MutationSource): Uint8Array {
  let result = input;
  for (let left = 1 + below(source.random, 8); left > 0; left -= 1)
    result = pick(source.random, MUTATIONS)(result, source);
  return result.length > source.maxBytes ? result.subarray(0, source.maxBytes) : result;
}
