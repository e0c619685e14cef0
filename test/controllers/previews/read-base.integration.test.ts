import { drawn } from '@berth/test-kit/seeded-random';
import { describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../packages/git-reader/src/program/git-program-repository.ts';
import type { SourceContent } from '../../../src/controllers/sources/manifests/source-content.ts';
import { SourceReader } from '../../../src/controllers/sources/reading/source-reader.ts';
import { eachWithRepository } from '../../adapters/git/each-with-repository.ts';
import { type GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const BROKEN = 'kind: [';
const names = (fleet: SourceContent) => fleet.objects.map(({ object }) => object.metadata.name).sort();

describe('the base of a plan', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  eachWithRepository(GitProgramRepository, (given) => ({ fixture, repository } = given));

  const first = () =>
    fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') });
  const read = (commit: string, from = repository) =>
    new SourceReader(from, { keepLastGood: true }).read(commit);

  it('is the commit itself where every file can be read', async () => {
    first();
    expect(names(await read(fixture.commit({ 'a.yaml': null })))).toEqual(['b', 'c']);
  });

  it('keeps what left Git since the newest commit in which every file could be read', async () => {
    first();
    fixture.commit({ 'a.yaml': null });
    fixture.commit({ 'b.yaml': BROKEN });
    const base = await read(fixture.commit({ 'c.yaml': null }));
    expect([names(base), base.complete]).toEqual([['b', 'c'], false]);
  });

  it('is the commit with what its files held where no file could ever all be read', async () => {
    fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': BROKEN });
    expect(names(await read(fixture.commit({ 'c.yaml': configMap('c') })))).toEqual(['a', 'c']);
  });

  it('does not keep what came and left again while some file could not be read', async () => {
    first();
    fixture.commit({ 'b.yaml': BROKEN, 'd.yaml': configMap('d') });
    expect(names(await read(fixture.commit({ 'a.yaml': BROKEN, 'd.yaml': null })))).toEqual(['a', 'b', 'c']);
  });

  it('is what a controller holds that followed every commit', async () => {
    const random = drawn();
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const change = (): Readonly<Record<string, string | null>> => {
      const files = ['a', 'b', 'c', 'd'].filter(() => random() < 0.4);
      return Object.fromEntries(files.map((file) => [`${file}.yaml`, pick([configMap(file), BROKEN, null])]));
    };
    const follower = new SourceReader(repository, { keepLastGood: true });
    await follower.read(first());
    for (let round = 0; round < 30; round++) {
      const commit = fixture.commit({ ...change(), 'round.txt': `${round}` });
      const held = names(await follower.read(commit));
      expect(names(await read(commit)), `round ${round}`).toEqual(held);
    }
  });

  it('is the commit in a clone without its parents', async () => {
    first();
    const tip = fixture.commit({ 'b.yaml': BROKEN, 'a.yaml': null });
    const clone = tempDir();
    fixture.git('clone', '-q', '--depth', '1', `file://${fixture.dir}`, clone);
    const shallow = new GitProgramRepository({ gitDir: `${clone}/.git`, ambient: process.env });
    expect(names(await read(tip, shallow))).toEqual(['c']);
    await shallow.close();
  });
});
