import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import {
  ReceivedObjects,
  SentObjects,
} from '../../../../src/controllers/previews/bounded/numbered-objects.ts';

type Lists = Readonly<Record<'a' | 'b', readonly object[]>>;

describe('objects for another process', () => {
  const [sent, received] = [new SentObjects(), new ReceivedObjects()];
  const [x, y, z] = [{ name: 'x' }, { name: 'y' }, { name: 'z' }];
  /** @returns what arrives, and how many objects were on the way */
  const send = (lists: Lists) => {
    const packed = sent.pack(lists);
    const onWay = packed.a.fresh.length + packed.b.fresh.length;
    return { got: received.unpack(deserialize(serialize(packed)) as typeof packed), onWay };
  };

  it('are sent once, and are the very same ones from round to round', () => {
    const first = send({ a: [x, y], b: [x] });
    expect(first).toEqual({ got: { a: [x, y], b: [x] }, onWay: 2 });
    expect(first.got.b[0]).toBe(first.got.a[0]);
    const second = send({ a: [y, z, x], b: [] });
    expect(second).toEqual({ got: { a: [y, z, x], b: [] }, onWay: 1 });
    expect(second.got.a[2]).toBe(first.got.a[0]);
  });

  it('are another one when they changed, though they say the same', () => {
    const before = send({ a: [x], b: [] }).got.a[0];
    const { got, onWay } = send({ a: [{ ...x }], b: [] });
    expect(onWay).toBe(1);
    expect(got.a[0]).toEqual(x);
    expect(got.a[0]).not.toBe(before);
  });

  it('are sent again when they were away for a round', () => {
    send({ a: [x], b: [] });
    send({ a: [], b: [] });
    expect(send({ a: [x], b: [] })).toEqual({ got: { a: [x], b: [] }, onWay: 1 });
  });

  it('are refused under a number that nobody gave', () => {
    const strange = { a: { numbers: Int32Array.of(99), fresh: [] } };
    expect(() => new ReceivedObjects().unpack(strange)).toThrow('no object with the number 99');
  });
});
