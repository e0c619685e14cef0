import { describe, expect, it } from 'vitest';
import { judgeLease } from '../../../src/rules/addons/addon-health.ts';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const ADDON = { metadata: { name: 'hello' } };
const lease = (renewTime?: string | null) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'hello' },
  spec: { renewTime },
});

describe('judgeLease', () => {
  it.each([
    { name: 'no lease', given: undefined, want: 'Unknown ManagedClusterAddOnLeaseNotFound' },
    {
      name: 'renewed now',
      given: lease('2026-01-01T12:00:00.000000Z'),
      want: 'True ManagedClusterAddOnLeaseUpdated',
    },
    {
      name: 'just in time',
      given: lease('2026-01-01T11:55:00.001000Z'),
      want: 'True ManagedClusterAddOnLeaseUpdated',
    },
    {
      name: 'five minutes old',
      given: lease('2026-01-01T11:55:00Z'),
      want: 'False ManagedClusterAddOnLeaseUpdateStopped',
    },
    {
      name: 'by a clock ahead',
      given: lease('2026-01-01T13:00:00Z'),
      want: 'True ManagedClusterAddOnLeaseUpdated',
    },
    { name: 'never renewed', given: lease(), want: 'False ManagedClusterAddOnLeaseUpdateStopped' },
    { name: 'renewed at no time', given: lease('soon'), want: 'False ManagedClusterAddOnLeaseUpdateStopped' },
  ])('$name: $want', ({ given, want }) => {
    const { condition } = judgeLease(ADDON, given, NOW_MS);
    expect(`${condition.status} ${condition.reason}`).toBe(want);
  });
});
