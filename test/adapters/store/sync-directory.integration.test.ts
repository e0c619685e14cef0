import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JsonFileMap } from '../../../src/adapters/store/json-file.ts';
import { LastFollowedCommit } from '../../../src/controllers/sources/reading/git-source.ts';
import { syncDirectory } from '@berth/runtime/files/atomic-file';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'berth-sync-'))));
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

/** Calls back when a directory is synced, and lets it be synced; files are as they always are. */
async function whenDirectoriesAreSynced(then: () => void): Promise<void> {
  const handle = await open(dir, 'r');
  const type = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Reflect.get<FileHandle, 'sync'>(type, 'sync');
  vi.spyOn(type, 'sync').mockImplementation(async function (this: FileHandle) {
    if ((await this.stat()).isDirectory()) then();
    return sync.call(this);
  });
}

function failWith(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

describe('names that get onto the disk', () => {
  it.each(['EINVAL', 'EPERM', 'ENOTSUP'])(
    'cannot where the file system says %s: that is all there is',
    async (code) => {
      await whenDirectoriesAreSynced(failWith(code));
      await syncDirectory(dir);
    },
  );

  it.each(['EIO', 'ENOSPC'])('do not where it says %s', async (code) => {
    await whenDirectoriesAreSynced(failWith(code));
    await expect(syncDirectory(dir)).rejects.toMatchObject({ code });
  });

  it('are reported as not kept where the disk fails, and kept when it works again', async () => {
    const file = join(dir, 'state.json');
    const log = new SilentLogger();
    const clock = new FakeClock();
    const openMap = () => new JsonFileMap<number>(file, clock, log);
    const map = openMap();
    await whenDirectoriesAreSynced(failWith('EIO'));
    await expect(map.persist('a', 1)).rejects.toMatchObject({ code: 'EIO' });
    await clock.advance(250);
    await expect
      .poll(() => log.entries)
      .toMatchObject([{ message: 'a state file was not written; it will be retried' }]);
    vi.restoreAllMocks();
    // The file was replaced before its directory failed: what is kept now must go with that one.
    await map.persist('b', 2);
    expect([openMap().get('a'), openMap().get('b')]).toEqual([1, 2]);
    await map.close();
  });

  it('make the commit that a source followed the one to remember', async () => {
    const file = join(dir, 'followed');
    const synced: string[] = [];
    await whenDirectoriesAreSynced(() => synced.push(readFileSync(file, 'utf8').split(' ')[1] ?? ''));
    await new LastFollowedCommit(file, []).store('c0ffee');
    expect(synced).toEqual(['c0ffee\n']);
  });

  it('leave nothing to remember rather than an older commit', async () => {
    const file = join(dir, 'followed');
    const followed = new LastFollowedCommit(file, []);
    await followed.store('c0ffee');
    await whenDirectoriesAreSynced(failWith('EIO'));
    await followed.store('decaf0');
    expect(await followed.load()).toBeUndefined();
  });
});
