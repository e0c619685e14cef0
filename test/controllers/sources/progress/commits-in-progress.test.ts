import { expect, it } from 'vitest';
import { CommitsInProgress } from '../../../../src/controllers/sources/progress/commit-barrier.ts';

it('a commit arrives from the answer of the remote until the hub was made to follow it', () => {
  const arriving = new CommitsInProgress();
  const after = (kind: Parameters<CommitsInProgress['handle']>[0]['kind'], source = 'fleet'): boolean => {
    arriving.handle({ kind, source });
    return arriving.areAny;
  };
  expect(arriving.areAny).toBe(false);
  expect(after('fetched')).toBe(true);
  expect(after('read', 'other')).toBe(true);
  expect(after('complete')).toBe(true);
  expect(after('followed')).toBe(true);
  expect(after('followed', 'other')).toBe(false);
});
