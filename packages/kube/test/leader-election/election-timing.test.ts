import { describe, expect, it } from 'vitest';
import { InputError } from '@berth/runtime/errors';
import { checkTiming, DEFAULT_TIMING } from '../../src/leader-election/lease.ts';

describe('the timing of an election', () => {
  it('has defaults that are allowed', () => {
    expect(checkTiming(DEFAULT_TIMING)).toEqual(DEFAULT_TIMING);
  });

  it.each([
    { over: { leaseDurationMs: 10_000 }, subject: 'renew deadline' },
    { over: { leaseDurationMs: 15_500 }, subject: 'lease duration' },
    { over: { leaseDurationMs: 0 }, subject: 'lease duration' },
    { over: { renewDeadlineMs: 2_000 }, subject: 'retry period' },
    { over: { renewDeadlineMs: 2_400 }, subject: 'retry period' },
    { over: { retryPeriodMs: 0 }, subject: 'retry period' },
  ])('refuses $over', ({ over, subject }) => {
    const check = () => checkTiming({ ...DEFAULT_TIMING, ...over });
    expect(check).toThrow(InputError);
    expect(check).toThrow(subject);
  });
});
