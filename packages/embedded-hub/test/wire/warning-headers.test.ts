import { describe, expect, it } from 'vitest';
import { warningHeaders } from '../../src/wire/api-response.ts';

describe('warningHeaders', () => {
  it('writes each text once, with quotes and backslashes escaped and control characters out', () => {
    expect(warningHeaders(['a "b" \\c', 'x\ny\u{1f600}', 'a "b" \\c'])).toEqual([
      '299 - "a \\"b\\" \\\\c"',
      '299 - "x y "',
    ]);
  });

  it('writes long texts whole while all of them fit together', () => {
    const text = 'x'.repeat(4_000);
    expect(warningHeaders([text])).toEqual([`299 - "${text}"`]);
  });

  it('cuts each text, and leaves out the last ones, when all are too long', () => {
    const texts = Array.from({ length: 100 }, (_, index) => `${String(index)} ${'x'.repeat(500)}`);
    const headers = warningHeaders(texts);
    expect(headers).toHaveLength(16);
    for (const header of headers) expect(header).toHaveLength(256 + '299 - ""'.length);
  });
});
