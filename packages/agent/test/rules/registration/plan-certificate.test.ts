import { describe, expect, it } from 'vitest';
import {
  agentSubject,
  type HeldCertificate,
  planCertificate,
  renewalShare,
} from '../../../src/rules/registration/plan-certificate.ts';

const HOUR_MS = 3_600_000;
const SUBJECT = agentSubject({ cluster: 'edge-1', agent: 'a1b2c' });
const PREFIX = 'system:open-cluster-management';
const held = (over: Partial<HeldCertificate> = {}): HeldCertificate => ({
  commonName: `${PREFIX}:edge-1:a1b2c`,
  organizations: [`${PREFIX}:managed-clusters`, `${PREFIX}:edge-1`],
  organizationalUnits: [],
  notBeforeMs: 0,
  notAfterMs: HOUR_MS,
  ...over,
});

describe('planCertificate', () => {
  it.each([
    { name: 'none', one: undefined, nowMs: 0, want: 'missing' },
    { name: 'a fresh one', one: held(), nowMs: 1, want: 'keep' },
    { name: 'one just before its renewal', one: held(), nowMs: 0.8 * HOUR_MS - 1, want: 'keep' },
    { name: 'one at its renewal', one: held(), nowMs: 0.8 * HOUR_MS, want: 'renewal' },
    { name: 'one at its end', one: held(), nowMs: HOUR_MS, want: 'expired' },
    {
      name: 'one of another agent',
      one: held({ commonName: `${PREFIX}:edge-1:other` }),
      nowMs: 0,
      want: 'subject',
    },
    {
      name: 'one of a longer name',
      one: held({ commonName: `${PREFIX}:edge-1:a1b2c:x` }),
      nowMs: 0,
      want: 'subject',
    },
    {
      name: 'one with a group too many',
      one: held({ organizations: [...held().organizations, 'x'] }),
      nowMs: 0,
      want: 'subject',
    },
    {
      name: 'one with a group too few',
      one: held({ organizations: [`${PREFIX}:edge-1`] }),
      nowMs: 0,
      want: 'subject',
    },
    { name: 'one with a unit', one: held({ organizationalUnits: ['x'] }), nowMs: 0, want: 'subject' },
    {
      name: 'groups in another order',
      one: held({ organizations: [...held().organizations].reverse() }),
      nowMs: 0,
      want: 'keep',
    },
  ])('decides for $name: $want', ({ one, nowMs, want }) => {
    const plan = planCertificate(one, { subject: SUBJECT, nowMs, share: 0.2 });
    expect(plan.kind === 'keep' ? 'keep' : plan.why).toBe(want);
  });

  it('renews a certificate of an hour in the minutes 45 to 48', () => {
    for (const random of [0, 0.5, 0.999]) {
      const plan = planCertificate(held(), {
        subject: SUBJECT,
        nowMs: 0,
        share: renewalShare(() => random),
      });
      const minute = plan.kind === 'keep' ? plan.renewAtMs / 60_000 : NaN;
      expect(minute).toBeGreaterThanOrEqual(45);
      expect(minute).toBeLessThanOrEqual(48);
    }
  });
});
