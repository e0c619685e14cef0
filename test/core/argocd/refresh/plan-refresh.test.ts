import { describe, expect, it } from 'vitest';
import { planRefresh, type SentRefresh } from '../../../../src/core/argocd/refresh/plan-refresh.ts';

const AT_MS = 1_000_000;
const REFRESH = 'argocd.argoproj.io/application-set-refresh';
const FOR = 'berth.dev/refreshed-for';
const sent = (over: Partial<SentRefresh> = {}): SentRefresh => ({
  firstAtMs: AT_MS,
  lastAtMs: AT_MS,
  tries: 1,
  confirmed: false,
  ...over,
});
const failed = [
  { type: 'ErrorOccurred', status: 'True', reason: 'ApplicationGenerationFromParamsError', message: 'no' },
] as const;
const asked = { [REFRESH]: 'T', [FOR]: 'new' };
const taken = { [FOR]: 'new' };

describe('what is done about an ApplicationSet', () => {
  it.each([
    { about: 'uses nothing published', digest: undefined, annotations: {}, want: { kind: 'none' } },
    { about: 'was never refreshed', annotations: {}, want: { kind: 'refresh', isRetry: false } },
    {
      about: 'was refreshed for another decision',
      annotations: { [FOR]: 'old' },
      want: { kind: 'refresh', isRetry: false },
    },
    {
      about: 'was refreshed for another decision, and has not answered',
      annotations: { [FOR]: 'old', [REFRESH]: 'T' },
      sent: sent(),
      afterMs: 5_000,
      want: { kind: 'refresh', isRetry: false },
    },
    {
      about: 'was refreshed a moment ago',
      annotations: { [FOR]: 'old' },
      sent: sent({ confirmed: true }),
      afterMs: 500,
      want: { kind: 'wait', forMs: 1_500, problem: undefined },
    },
    { about: 'is up to date after a restart', annotations: taken, want: { kind: 'none' } },
    {
      about: 'is up to date, whatever else fails',
      annotations: taken,
      conditions: failed,
      sent: sent({ confirmed: true }),
      want: { kind: 'none' },
    },
    { about: 'has answered', annotations: taken, sent: sent(), want: { kind: 'confirmed' } },
    {
      about: 'has not answered yet',
      annotations: asked,
      sent: sent(),
      afterMs: 5_000,
      want: { kind: 'wait', forMs: 10_000, problem: undefined },
    },
    {
      about: 'has not answered',
      annotations: asked,
      sent: sent(),
      afterMs: 15_000,
      want: { kind: 'refresh', isRetry: true },
    },
    {
      about: 'has not answered the second time',
      annotations: asked,
      sent: sent({ tries: 2 }),
      afterMs: 29_000,
      want: {
        kind: 'wait',
        forMs: 1_000,
        problem: 'the ApplicationSet controller did not take the refresh; does it run?',
      },
    },
    {
      about: 'never answers: every three minutes',
      annotations: asked,
      sent: sent({ tries: 40 }),
      afterMs: 179_999,
      want: { kind: 'wait', forMs: 1, problem: expect.any(String) as string },
    },
    {
      about: 'was asked before a restart',
      annotations: asked,
      want: { kind: 'refresh', isRetry: true },
    },
    {
      about: 'could not generate',
      annotations: asked,
      conditions: failed,
      sent: sent(),
      afterMs: 1_000,
      want: { kind: 'wait', forMs: 14_000, problem: 'no' },
    },
    {
      about: 'generated, but could not write an Application',
      annotations: taken,
      conditions: failed,
      sent: sent(),
      afterMs: 15_000,
      want: { kind: 'refresh', isRetry: true },
    },
  ])('$about', ({ digest = 'new', annotations, conditions, sent: last, afterMs = 0, want, about }) => {
    const target = { metadata: { name: 'web', annotations }, status: { conditions: conditions ?? [] } };
    const wanted = about === 'uses nothing published' ? undefined : digest;
    expect(planRefresh(target, wanted, { sent: last, nowMs: AT_MS + afterMs })).toEqual(want);
  });

  it('leaves one alone that is being deleted', () => {
    const metadata = { name: 'web', deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(planRefresh({ metadata }, 'new', { sent: undefined, nowMs: AT_MS })).toEqual({ kind: 'none' });
  });
});
