import { describe, expect, it } from 'vitest';
import { judgeToken, readToken } from '../src/account-token.ts';

const tokenOf = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
const CLAIMS = { iat: 1_000, exp: 2_000, 'kubernetes.io': { serviceaccount: { uid: 'u' } } };
const MS = 1_000;

describe('judgeToken', () => {
  it.each([
    { name: 'none', token: undefined, nowMs: 0, want: 'missing' },
    { name: 'no token', token: 'x', nowMs: 0, want: 'missing' },
    { name: 'no JSON inside', token: 'a.b.c', nowMs: 0, want: 'missing' },
    { name: 'null inside', token: 'a.bnVsbA.c', nowMs: 0, want: 'missing' },
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
