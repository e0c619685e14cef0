import { describe, expect, it } from 'vitest';
import { judgeToken, readToken, tokenInfrastructure } from '../../../src/rules/addons/addon-token.ts';

const tokenOf = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
const CLAIMS = { iat: 1_000, exp: 2_000, 'kubernetes.io': { serviceaccount: { uid: 'u' } } };
const MS = 1_000;

describe('judgeToken', () => {
  it.each([
    { name: 'none', token: undefined, nowMs: 0, want: 'missing' },
    { name: 'no token', token: 'x', nowMs: 0, want: 'missing' },
    { name: 'no JSON inside', token: 'a.b.c', nowMs: 0, want: 'missing' },
    { name: 'no end', token: tokenOf({ ...CLAIMS, exp: undefined }), nowMs: 0, want: 'missing' },
    { name: 'no begin', token: tokenOf({ ...CLAIMS, iat: 0 }), nowMs: 0, want: 'missing' },
    {
      name: 'another account',
      token: tokenOf({ ...CLAIMS, 'kubernetes.io': {} }),
      nowMs: 0,
      want: 'account',
    },
    { name: 'a fresh one', token: tokenOf(CLAIMS), nowMs: 1_000 * MS, want: 'keep' },
    { name: 'more than a fifth left', token: tokenOf(CLAIMS), nowMs: 1_799 * MS, want: 'keep' },
    { name: 'a fifth left', token: tokenOf(CLAIMS), nowMs: 1_800 * MS, want: 'renewal' },
    { name: 'at its end', token: tokenOf(CLAIMS), nowMs: 2_000 * MS, want: 'expired' },
    { name: 'an end before its begin', token: tokenOf({ ...CLAIMS, iat: 2_000 }), nowMs: 0, want: 'expired' },
  ])('$name: $want', ({ token, nowMs, want }) => {
    const verdict = judgeToken(token, 'u', nowMs);
    expect(verdict.kind === 'keep' ? 'keep' : verdict.why).toBe(want);
  });

  it('reads the times in milliseconds', () => {
    expect(readToken(tokenOf(CLAIMS))).toEqual({
      issuedAtMs: 1_000_000,
      expiresAtMs: 2_000_000,
      accountUid: 'u',
    });
  });
});

describe('tokenInfrastructure', () => {
  const condition = (status: 'True' | 'False', message: string) => [
    { type: 'TokenInfrastructureReady', status, reason: 'R', message },
  ];
  it.each([
    { name: 'no condition', given: undefined, want: { kind: 'waiting' } },
    { name: 'not yet', given: condition('False', 'x (UID: u) y'), want: { kind: 'waiting' } },
    {
      name: 'ready',
      given: condition('True', 'ServiceAccount a/b-agent (UID: 1-2) is ready'),
      want: { kind: 'ready', accountUid: '1-2' },
    },
    {
      name: 'without a UID',
      given: condition('True', 'ready'),
      want: { kind: 'malformed', why: 'ServiceAccount UID not found in message: ready' },
    },
    {
      name: 'with half a UID',
      given: condition('True', 'UID: 1'),
      want: { kind: 'malformed', why: 'malformed ServiceAccount UID in message: UID: 1' },
    },
    {
      name: 'with an empty UID',
      given: condition('True', '(UID: )'),
      want: { kind: 'malformed', why: 'empty ServiceAccount UID in message: (UID: )' },
    },
  ])('$name', ({ given, want }) => expect(tokenInfrastructure(given)).toEqual(want));
});
