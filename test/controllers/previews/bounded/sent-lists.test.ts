import { deserialize, serialize } from 'node:v8';
import { beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ReceivedLists, SentLists } from '../../../../src/controllers/previews/bounded/numbered-objects.ts';

const object = (name: string, resourceVersion: string, data = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, uid: name, resourceVersion },
  data,
});

describe('lists of a hub for another process', () => {
  let [sent, received] = [new SentLists(), new ReceivedLists()];
  beforeEach(() => {
    [sent, received] = [new SentLists(), new ReceivedLists()];
  });

  /** @returns what arrives, and how many objects were on the way */
  function send(items: readonly KubeObject[], resourceVersion: string, kind = CONFIG_MAP) {
    const read = { method: 'list', kind, options: undefined } as const;
    const packed = sent.pack(read, { items, resourceVersion });
    const list = received.unpack(read, deserialize(serialize(packed)) as typeof packed);
    return { list, onWay: packed.items.fresh.length };
  }

  it('send each version of an object once, and it is the very same one there', () => {
    const first = send([object('a', '1'), object('b', '2')], '2');
    const second = send([object('a', '1'), object('b', '3', 'new')], '3');
    expect(first.onWay).toBe(2);
    expect(second).toEqual({
      onWay: 1,
      list: { items: [object('a', '1'), object('b', '3', 'new')], resourceVersion: '3' },
    });
    expect(second.list.items[0]).toBe(first.list.items[0]);
  });

  it('are apart for each read', () => {
    send([object('a', '1')], '1');
    expect(send([object('a', '1')], '1', PLACEMENT).onWay).toBe(1);
    expect(send([object('a', '1')], '1').onWay).toBe(0);
  });

  it('send all again from a hub that was restored, whose versions may hold something else', () => {
    send([object('a', '5', 'old')], '9');
    const { list, onWay } = send([object('a', '5', 'restored')], '7');
    expect(onWay).toBe(1);
    expect(list.items).toEqual([object('a', '5', 'restored')]);
  });

  it('send an object without a version each time', () => {
    const plain = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(send([{ ...plain }], '1').onWay).toBe(1);
    expect(send([{ ...plain }], '1').onWay).toBe(1);
  });

  it('send the head of each member once, as long as it is the same object', () => {
    const read = { method: 'heads', kind: CONFIG_MAP } as const;
    const sendHeads = (heads: readonly KubeObject[] | undefined) => {
      const packed = sent.packHeads(read, heads);
      return { onWay: packed?.fresh.length, heads: received.unpackHeads(read, packed) };
    };
    const [a, b] = [object('a', '1'), object('b', '2')];
    const first = sendHeads([a, b]);
    expect(first).toEqual({ onWay: 2, heads: [a, b] });
    // A hub that was restored gives the version out a second time.
    const other = object('b', '2', 'other');
    const second = sendHeads([a, other]);
    expect(second).toEqual({ onWay: 1, heads: [a, other] });
    expect(second.heads?.[0]).toBe(first.heads?.[0]);
    expect(sendHeads(undefined)).toEqual({ onWay: undefined, heads: undefined });
    expect(sendHeads([a])).toEqual({ onWay: 0, heads: [a] });
  });
});
