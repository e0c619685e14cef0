import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { AwaitedTransfers } from '../../../../src/controllers/sources/progress/source-claims.ts';

describe('AwaitedTransfers', () => {
  let clock: FakeClock;
  let transfers: AwaitedTransfers;
  let free: string[];
  beforeEach(() => {
    [clock, free] = [new FakeClock(), []];
    transfers = new AwaitedTransfers(clock, [
      { name: 'fleet', ref: 'main' },
      { name: 'apps', ref: 'main' },
      { name: 'other', ref: 'next' },
      { name: 'folder' },
      { name: 'folder2' },
    ]);
    transfers.onFree((source) => void free.push(source));
    for (const source of ['fleet', 'apps', 'other']) transfers.claimed(source, 'a');
  });

  it('waits for a source of the same ref that has not read the commit', () => {
    expect(transfers.mustWait('fleet', 'apps')).toBe(false);
    transfers.claimed('fleet', 'b');
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
    expect(transfers.mustWait('fleet', 'other')).toBe(false);
    expect(free).toEqual([]);
    transfers.claimed('apps', 'b');
    expect(free).toEqual(['fleet']);
    expect(transfers.mustWait('fleet', 'apps')).toBe(false);
    transfers.claimed('apps', 'b');
    expect(free).toEqual(['fleet']);
  });

  it('waits for the next commit where the other source is ahead', () => {
    transfers.claimed('apps', 'c');
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
    transfers.claimed('fleet', 'c');
    expect(transfers.mustWait('fleet', 'apps')).toBe(false);
    expect(free).toEqual([]);
  });

  it('does not wait for a source that cannot be read, until it can', () => {
    transfers.claimed('fleet', 'b');
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
    transfers.failed('apps');
    expect(free).toEqual(['fleet']);
    expect(transfers.mustWait('fleet', 'apps')).toBe(false);
    transfers.claimed('apps', 'a');
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
  });

  it('waits half a minute at most', async () => {
    transfers.claimed('fleet', 'b');
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
    await clock.advance(29_999);
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
    await clock.advance(1);
    expect(transfers.mustWait('fleet', 'apps')).toBe(false);
    // Another commit is another wait.
    transfers.claimed('fleet', 'c');
    expect(transfers.mustWait('fleet', 'apps')).toBe(true);
  });

  it('does not wait without a commit, or for a source that it does not know', () => {
    expect(transfers.mustWait('folder', 'folder2')).toBe(false);
    transfers.claimed('folder', undefined);
    transfers.claimed('nobody', 'b');
    transfers.failed('nobody');
    expect(transfers.mustWait('folder', 'apps')).toBe(false);
    expect(transfers.mustWait('fleet', 'nobody')).toBe(false);
    expect(transfers.mustWait('nobody', 'fleet')).toBe(false);
  });
});
