import { describe, expect, it } from 'vitest';
import {
  addSeconds,
  compareInstants,
  epochMsOf,
  formatRfc3339,
  instantFromEpochMs,
  parseRfc3339,
} from '../../src/model/rfc3339.ts';

describe('RFC 3339 times', () => {
  it.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z', 0],
    ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00Z', 123_456_789],
    ['2026-03-01T12:00:00.1234567899Z', '2026-03-01T12:00:00Z', 123_456_789],
    ['2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00Z', 0],
    ['2026-03-01T00:00:00-00:30', '2026-03-01T00:30:00Z', 0],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z', 0],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z', 500_000_000],
  ])('%s is %s and %d ns', (text, canonical, nanos) => {
    const instant = parseRfc3339(text);
    expect(instant?.nanos).toBe(nanos);
    expect(instant && formatRfc3339(instant)).toBe(canonical);
  });

  it.each([
    '',
    '2026-03-01',
    '2026-03-01t12:00:00Z',
    '2026-03-01T12:00:00z',
    '2026-03-01T12:00:00',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:60Z',
    '2026-03-01T12:00:00+25:00',
    '2026-03-01T12:00:00.Z',
    ' 2026-03-01T12:00:00Z',
  ])('refuses %s', (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
  });

  it('compares to the nanosecond, converts to and from milliseconds', () => {
    const early = { seconds: 1, nanos: 999_999_999 };
    expect(compareInstants(early, { seconds: 2, nanos: 0 })).toBeLessThan(0);
    expect(compareInstants(addSeconds(early, 1), { seconds: 2, nanos: 0 })).toBeGreaterThan(0);
    expect(instantFromEpochMs(-500)).toEqual({ seconds: -1, nanos: 500_000_000 });
    expect(epochMsOf({ seconds: 1, nanos: 500_000_000 })).toBe(1500);
  });
});
