import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlobContent, GitRef, GitRepository } from '../src/repository/git-repository.ts';
import { GitFixture } from './git-fixture.ts';

/** What every GitRepository must do, whatever reads it. `open` is given a repository and brings a reader of it. */
export function describeGitRepository(
  name: string,
  open: (fixture: GitFixture, refs: readonly GitRef[]) => Promise<GitRepository>,
): void {
  describe(`git repository contract: ${name}`, () => {
    let fixture: GitFixture;
    let repository: GitRepository;
    let first: string;
    let second: string;
    let side: string;
    let odd: string;
    let nameless: string;

    beforeAll(async () => {
      fixture = new GitFixture();
      first = fixture.commit(
        { 'a.yaml': 'a: 1\n', 'dir/b.yaml': 'b: 1\n', 'dir/ü.yaml': 'u: 1\n' },
        { message: 'One\n\nbody' },
      );
      fixture.git('tag', 'v1.2.0', first);
      side = fixture.commit({ 'side.yaml': 's\n' }, { branch: 'side', orphan: true });
      fixture.git('branch', 'feature/x', first);
      second = fixture.commit({
        'a.yaml': 'a: 2\n',
        'dir/b.yaml': null,
        'dir/c.yaml': Buffer.from([0xff, 0x00, 0x0a]),
        link: { symlink: 'a.yaml' },
        big: 'x'.repeat(200_000),
        empty: '',
      });
      fixture.git('tag', '-a', '-m', 'annotated', 'v1.10.0', second);
      fixture.git('tag', 'v2.0.0-rc.1', second);
      fixture.git('tag', 'nightly', second);
      ({ odd, nameless } = oddCommits(fixture));
      repository = await open(fixture, [
        { type: 'branch', name: 'odd' },
        { type: 'branch', name: 'nameless' },
        { type: 'head' },
        { type: 'branch', name: 'main' },
        { type: 'branch', name: 'side' },
        { type: 'branch', name: 'feature/x' },
        { type: 'semver', range: '*' },
      ]);
    });
    afterAll(async () => {
      await repository.close();
      fixture.remove();
    });

    it.each<[string, GitRef, () => string]>([
      ['the default branch', { type: 'head' }, () => second],
      ['a branch', { type: 'branch', name: 'feature/x' }, () => first],
      ['a tag', { type: 'tag', name: 'v1.2.0' }, () => first],
      ['an annotated tag', { type: 'tag', name: 'v1.10.0' }, () => second],
      ['the highest version of a range', { type: 'semver', range: '^1.0' }, () => second],
      ['a version, pre-releases left out', { type: 'semver', range: '<1.5' }, () => first],
    ])('resolves %s', async (_name, ref, want) => {
      expect(await repository.resolve(ref)).toBe(want());
    });

    it('resolves a commit, and revisions as users type them', async () => {
      expect(await repository.resolve({ type: 'commit', id: first })).toBe(first);
      expect(await repository.resolveRevision('main')).toBe(second);
      expect(await repository.resolveRevision('v1.10.0')).toBe(second);
      expect(await repository.resolveRevision(first)).toBe(first);
      expect(await repository.resolveRevision(first.slice(0, 10))).toBe(first);
    });

    it.each<[string, GitRef]>([
      ['branch', { type: 'branch', name: 'gone' }],
      ['tag', { type: 'tag', name: 'gone' }],
      ['commit', { type: 'commit', id: '0123456789012345678901234567890123456789' }],
      ['semver', { type: 'semver', range: '^7' }],
    ])('says that a %s is not there', async (_name, ref) => {
      await expect(repository.resolve(ref)).rejects.toMatchObject({
        name: 'InputError',
        code: 'git.ref-not-found',
      });
    });

    it.each(['gone', '', '-x', 'main\nx'])('says that the revision %j is not there', async (revision) => {
      await expect(repository.resolveRevision(revision)).rejects.toMatchObject({ code: 'git.ref-not-found' });
    });

    it('reads a commit', async () => {
      expect(await repository.commit(second)).toMatchObject({
        id: second,
        tree: expect.stringMatching(/^[0-9a-f]{40}$/),
        parents: [first],
        author: { name: 'Ada', email: 'ada@example.com', timeMs: expect.any(Number) },
        subject: 'Change',
        signed: false,
      });
      expect((await repository.commit(first)).subject).toBe('One');
    });

    it('lists all leaves in path order, with their modes', async () => {
      const entries = await repository.listTree(second);
      expect(entries.map(({ path, mode }) => `${mode} ${path}`)).toEqual([
        '100644 a.yaml',
        '100644 big',
        '100644 dir/c.yaml',
        '100644 dir/ü.yaml',
        '100644 empty',
        '120000 link',
      ]);
    });

    it('lists names and modes that only odd tools write, each for itself', async () => {
      const listed = (await repository.listTree(odd)).map(({ path, mode }) => `${mode} ${path}`);
      const want = ['100644 a\\b.yaml', '100644 old.yaml', '160000 sub', '100644 x\ufffd.yaml'];
      expect(listed).toEqual(want);
      const changes = (await repository.diffTrees(first, odd)).flatMap(({ entry }) => entry ?? []);
      expect(changes.map(({ path, mode }) => `${mode} ${path}`).sort()).toEqual(want.sort());
    });

    it.each([
      ['without an author', () => nameless, 'git.bad-commit'],
      ['that is not there', () => '0123456789012345678901234567890123456789', 'git.ref-not-found'],
    ])('says what is wrong with a commit %s', async (_name, id, code) => {
      await expect(repository.commit(id())).rejects.toMatchObject({ name: 'InputError', code });
    });

    it('takes a time that no calendar has for none', async () => {
      expect(await repository.commit(odd)).toMatchObject({ author: { timeMs: 0 }, committer: { timeMs: 0 } });
    });

    it('tells what differs between two trees', async () => {
      const describeChange = async (from: string, to: string) =>
        (await repository.diffTrees(from, to))
          .map(({ path, entry }) => `${entry?.mode ?? 'gone'} ${path}`)
          .sort();
      expect(await describeChange(first, second)).toEqual([
        '100644 a.yaml',
        '100644 big',
        '100644 dir/c.yaml',
        '100644 empty',
        '120000 link',
        'gone dir/b.yaml',
      ]);
      expect(await describeChange(second, second)).toEqual([]);
    });

    it('reads blobs in order: bytes as they are, too large ones skipped, missing ones said', async () => {
      const ids = new Map((await repository.listTree(second)).map(({ path, id }) => [path, id]));
      const gone = '0123456789012345678901234567890123456789';
      const wanted = ['dir/c.yaml', 'big', 'empty', 'a.yaml'].map((path) => ids.get(path) ?? '');
      const got: BlobContent[] = [];
      await repository.readBlobs([...wanted, gone, wanted[0] ?? ''], { maxBytes: 100_000 }, (blob) =>
        got.push(blob.state === 'read' ? { ...blob, bytes: Buffer.from(blob.bytes) } : blob),
      );
      expect(got).toEqual([
        { id: wanted[0], state: 'read', bytes: Buffer.from([0xff, 0x00, 0x0a]) },
        { id: wanted[1], state: 'too-large', sizeBytes: 200_000 },
        { id: wanted[2], state: 'read', bytes: Buffer.alloc(0) },
        { id: wanted[3], state: 'read', bytes: Buffer.from('a: 2\n') },
        { id: gone, state: 'missing' },
        { id: wanted[0], state: 'read', bytes: Buffer.from([0xff, 0x00, 0x0a]) },
      ]);
    });

    it('serves requests that overlap', async () => {
      const ids = (await repository.listTree(second)).map(({ id }) => id);
      const counts = await Promise.all(
        Array.from({ length: 8 }, async () => {
          let count = 0;
          await repository.readBlobs(ids, { maxBytes: 1e6 }, () => count++);
          return count;
        }),
      );
      expect(counts).toEqual(Array(8).fill(ids.length));
    });

    it('survives a callback that throws', async () => {
      const ids = (await repository.listTree(second)).map(({ id }) => id);
      const failing = repository.readBlobs(ids, { maxBytes: 1e6 }, () => {
        throw new RangeError('callback');
      });
      await expect(failing).rejects.toThrow('callback');
      let count = 0;
      await repository.readBlobs(ids, { maxBytes: 1e6 }, () => count++);
      expect(count).toBe(ids.length);
    });

    it('tells the versions of files, newest first', async () => {
      const commitsOf = async (paths: string[], limit: number) => {
        const { versions, isWhole } = await repository.fileHistories(second, paths, limit);
        const commits = [...versions].map(([path, of]) => [path, of.map(({ commit }) => commit)] as const);
        return { isWhole, ...Object.fromEntries(commits) };
      };
      // As a link it was no file.
      expect(await commitsOf(['link'], 10)).toEqual({ isWhole: true });
      const both = { 'a.yaml': [second, first], 'dir/b.yaml': [first] };
      expect(await commitsOf(['a.yaml', 'dir/b.yaml', 'never'], 10)).toEqual({ isWhole: true, ...both });
      expect(await commitsOf(['a.yaml'], 1)).toEqual({ isWhole: false, 'a.yaml': [second] });
      expect(await commitsOf(['dir/b.yaml'], 10)).toEqual({ isWhole: true, 'dir/b.yaml': [first] });
      expect(await commitsOf(['never'], 10)).toEqual({ isWhole: true });
    });

    it('finds the merge base, or none', async () => {
      expect(await repository.mergeBase(first, second)).toBe(first);
      expect(await repository.mergeBase(side, second)).toBeUndefined();
    });
  });
}

/** What may come from a server that does not look at what it is given. */
function oddCommits(fixture: GitFixture): { readonly odd: string; readonly nameless: string } {
  const blob = Buffer.from(fixture.git('rev-parse', 'main:empty'), 'hex');
  const entry = (mode: string, name: string) =>
    Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name, 'latin1'), Buffer.from([0]), blob]);
  const tree = fixture.rawObject(
    'tree',
    Buffer.concat([
      entry('100644', 'a\\b.yaml'),
      entry('100664', 'old.yaml'),
      entry('160000', 'sub'),
      entry('100644', 'x\xff.yaml'),
    ]),
  );
  const person = 'Ada <ada@example.com> 99999999999999999999 +0000';
  const odd = fixture.rawObject(
    'commit',
    Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nodd\n`),
  );
  const nameless = fixture.rawObject('commit', Buffer.from(`tree ${tree}\n\nby nobody\n`));
  fixture.git('update-ref', 'refs/heads/odd', odd);
  fixture.git('update-ref', 'refs/heads/nameless', nameless);
  return { odd, nameless };
}
