import { describe, expect, it } from 'vitest';
import { readDer, readNested, writeDer } from '@berth/kube/x509/der';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('DER', () => {
  it('is read one level deep, element after element', () => {
    const found = readDer(bytes('3003020105040161'))?.map(({ tag, content }) => [
      tag,
      content.toString('hex'),
    ]);
    expect(found).toEqual([
      [0x30, '020105'],
      [0x04, '61'],
    ]);
    expect(readNested(bytes('3003020105'), 0x30)?.[0]?.whole.toString('hex')).toBe('020105');
    expect(readDer(Buffer.alloc(0))).toEqual([]);
  });

  it.each([
    ['an element without a length', '30'],
    ['content cut short', '3005020105'],
    ['an indefinite length', '30800201050000'],
    ['a length longer than needed', '308103020105'],
    ['a length with a leading zero', `30820081${'00'.repeat(129)}`],
    ['a length cut short', '3082ff'],
    ['a length of five bytes', '30850000000001ff'],
    ['a tag of several bytes', '1f8101020105'],
    ['a byte after the last element', '300302010500'],
  ])('is refused with %s', (_what, hex) => {
    expect(readDer(bytes(hex))).toBeUndefined();
  });

  it.each(['02010502', '020105020106', '0401ff', ''])('is not one element of a tag: %s', (hex) => {
    expect(readNested(bytes(hex), 0x02)).toBeUndefined();
  });

  it.each([0, 127, 128, 255, 256, 65_535, 65_536, 100_000])(
    'is written as it is read: %i bytes',
    (length) => {
      const content = Buffer.alloc(length, 7);
      const [element, ...others] = readDer(writeDer(0x04, content)) ?? [];
      expect([element?.tag, element?.content.equals(content), others.length]).toEqual([0x04, true, 0]);
    },
  );
});
