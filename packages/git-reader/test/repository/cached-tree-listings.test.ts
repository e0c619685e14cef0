import { describe, expect, it } from 'vitest';
import type { GitRepository, TreeEntry } from '../../src/repository/git-repository.ts';
import { CachedTreeListings } from '../../src/repository/tree-listing.ts';

const ENTRIES: readonly TreeEntry[] = [{ path: 'a.yaml', mode: '100644', id: 'a1' }];

function counted(fails: number) {
  const asked: string[] = [];
  const listTree = async (commit: string): Promise<readonly TreeEntry[]> => {
    if (asked.push(commit) <= fails) throw new Error('the disk is away');
    return ENTRIES;
  };
  return { asked, repository: new CachedTreeListings({ listTree } as unknown as GitRepository) };
}

describe('a repository that remembers its listings', () => {
  it('lists each commit once, also when it is asked twice at the same time', async () => {
    const { asked, repository } = counted(0);
    await Promise.all([repository.listTree('one'), repository.listTree('one')]);
    expect(await repository.listTree('one')).toBe(ENTRIES);
    await repository.listTree('two');
    expect(asked).toEqual(['one', 'two']);
  });

  it('lists again what could not be listed', async () => {
    const { asked, repository } = counted(1);
    await expect(repository.listTree('one')).rejects.toThrow('the disk is away');
    expect(await repository.listTree('one')).toBe(ENTRIES);
    expect(asked).toEqual(['one', 'one']);
  });
});
