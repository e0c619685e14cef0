import { expect, it } from 'vitest';
import { ArrivingCommits } from '../../../../src/controllers/sources/progress/arriving-commits.ts';

it('a commit arrives from the answer of the remote until the hub was made to follow it', () => {
  const arriving = new ArrivingCommits();
  const after = (kind: Parameters<ArrivingCommits['take']>[0]['kind'], source = 'fleet'): boolean => {
    arriving.take({ kind, source });
    return arriving.areAny;
  };
  expect(after('fetching')).toBe(false);
  expect(after('fetched')).toBe(true);
  expect(after('read', 'other')).toBe(true);
  expect(after('whole')).toBe(true);
  expect(after('followed')).toBe(true);
  expect(after('followed', 'other')).toBe(false);
});
