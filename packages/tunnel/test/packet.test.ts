import { firstSeed, seeded } from '@berth/test-kit/seeded-random';
import { describe, expect, it } from 'vitest';
import { encodePacket, parsePacket, type Packet } from '../src/wire/packet.ts';

const MAX = 2n ** 63n - 1n;
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('packets', () => {
  it.each<{ name: string; packet: Packet; bytes: string }>([
    {
      name: 'a dial',
      packet: { type: 'dial', random: 5n, protocol: 'tcp', address: 'c:1' },
      bytes: '120c 0a03746370 1203633a31 1805',
    },
    {
      name: 'an answer to it',
      packet: { type: 'dialed', random: MAX, connectId: 3n, error: '' },
      bytes: '0801 1a0c 1003 18ffffffffffffffff7f',
    },
    {
      name: 'data',
      packet: { type: 'data', connectId: 300n, data: hex('6869') },
      bytes: '0804 2207 08ac02 1a026869',
    },
    { name: 'a close', packet: { type: 'close', connectId: 1n }, bytes: '0802 2a02 0801' },
    {
      name: 'an answer to it',
      packet: { type: 'closed', connectId: 1n, error: 'x' },
      bytes: '0803 3205 0a0178 1001',
    },
    {
      name: 'a cancelled dial',
      packet: { type: 'cancel-dial', random: -1n },
      bytes: '0805 3a0b 08ffffffffffffffffff01',
    },
    { name: 'a drain', packet: { type: 'drain' }, bytes: '0806 4200' },
  ])('are written as konnectivity writes them: $name', ({ packet, bytes }) => {
    expect(encodePacket(packet).toString('hex')).toBe(hex(bytes).toString('hex'));
    expect(parsePacket(hex(bytes))).toEqual(packet);
  });

  it('ignores types and fields that it does not know', () => {
    expect(parsePacket(hex('087f'))).toBeUndefined();
    expect(parsePacket(hex('0806 4200 f20701 61 f9070102030405060708'))).toEqual({ type: 'drain' });
  });

  it.each([
    { name: 'a field that is cut', bytes: '0804 2207 08ac', want: 'ends within a field' },
    { name: 'a number that is cut', bytes: '08', want: 'ends within a number' },
    { name: 'a number of eleven bytes', bytes: '08ffffffffffffffffffff01', want: 'more than ten bytes' },
    { name: 'a group', bytes: '0b', want: 'unknown form 3' },
    { name: 'field zero', bytes: '0000', want: 'without a number' },
    { name: 'a body that is a number', bytes: '0804 2005', want: 'a number in the place of its data' },
    { name: 'text that is a number', bytes: '1202 0805', want: 'a number in the place of protocol' },
    { name: 'a number that is text', bytes: '0802 2a03 0a0161', want: 'text in the place of connectId' },
    { name: 'a type that is text', bytes: '0a0161', want: 'a type that is no number' },
  ])('refuses $name', ({ bytes, want }) => {
    expect(() => parsePacket(hex(bytes))).toThrow(want);
  });

  it('reads any bytes, or refuses them with a sentence', () => {
    const random = seeded(firstSeed(20_261_128));
    const count = Number(process.env['BERTH_PACKETS'] ?? 50_000);
    const samples = [
      encodePacket({ type: 'dial', random: MAX, protocol: 'tcp', address: 'cluster1:443' }),
      encodePacket({ type: 'data', connectId: 77n, data: Buffer.from('some data') }),
      encodePacket({ type: 'window', connectId: 1n, bytes: 65_536n }),
    ];
    for (let at = 0; at < count; at += 1) {
      const bytes = Buffer.from(samples[at % samples.length] as Buffer);
      for (let change = 0; change <= random() * 4; change += 1)
        bytes[Math.floor(random() * bytes.length)] = random() * 256;
      const cut = bytes.subarray(0, Math.ceil(random() * bytes.length));
      try {
        const packet = parsePacket(cut);
        if (packet !== undefined) expect(parsePacket(encodePacket(packet))).toEqual(packet);
      } catch (error) {
        expect(error).toMatchObject({ code: 'tunnel.packet' });
      }
    }
  });
});
