/** Just enough of the wire format to write messages by field number in tests. */
export type Part = Uint8Array;

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return bytes;
}

const tag = (field: number, wire: number): number[] => varint(BigInt(field * 8 + wire));

const delimited = (field: number, bytes: Uint8Array): Part =>
  Uint8Array.from([...tag(field, 2), ...varint(BigInt(bytes.length)), ...bytes]);

export const concat = (...parts: readonly Part[]): Part =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
export const text = (field: number, value: string): Part => delimited(field, new TextEncoder().encode(value));
export const bytes = (field: number, value: string): Part =>
  delimited(field, new TextEncoder().encode(value));
export const message = (field: number, ...parts: readonly Part[]): Part => delimited(field, concat(...parts));
export const int = (field: number, value: number | bigint): Part =>
  Uint8Array.from([...tag(field, 0), ...varint(BigInt(value))]);
export const bool = (field: number, value: boolean): Part => int(field, value ? 1 : 0);
export const entry = (field: number, key: string, ...value: readonly Part[]): Part =>
  message(field, text(1, key), ...value);

export function double(field: number, value: number): Part {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value, true);
  return Uint8Array.from([...tag(field, 1), ...new Uint8Array(view.buffer)]);
}

/** The `k8s\0` envelope around an object. */
export function envelope(apiVersion: string, kind: string, ...object: readonly Part[]): Uint8Array {
  return concat(
    Uint8Array.from([0x6b, 0x38, 0x73, 0x00]),
    message(1, text(1, apiVersion), text(2, kind)),
    message(2, ...object),
  );
}
