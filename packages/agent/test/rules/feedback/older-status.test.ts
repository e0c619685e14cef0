import { expect, it } from 'vitest';
import { hasOlderStatus } from '../../../src/rules/feedback/observed-status.ts';

it.each([
  { name: 'older', apiVersion: 'apps/v1', status: { observedGeneration: 1 }, want: true },
  { name: 'the same', apiVersion: 'apps/v1', status: { observedGeneration: 2 }, want: false },
  { name: 'no status', apiVersion: 'apps/v1', status: undefined, want: false },
  { name: 'no generation in the status', apiVersion: 'apps/v1', status: {}, want: false },
  { name: 'another group', apiVersion: 'example.com/v1', status: { observedGeneration: 1 }, want: false },
])('the status of a workload is about an older version: $name', ({ apiVersion, status, want }) => {
  const metadata = { name: 'a', generation: 2 };
  expect(hasOlderStatus({ apiVersion, kind: 'Deployment', metadata, status })).toBe(want);
});
