import { describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../../packages/git-reader/src/program/git-program-repository.ts';
import { DEFAULT_MANIFEST_LIMITS } from '../../../../src/controllers/sources/manifests/source-content.ts';
import { earlierVersions } from '../../../../src/controllers/sources/reading/last-good.ts';
import { eachWithRepository } from '../../../adapters/git/each-with-repository.ts';
import type { GitFixture } from '../../../../packages/git-reader/test/git-fixture.ts';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const BROKEN = '[';

class CountingRepository extends GitProgramRepository {
  walks = 0;
  override fileHistories(...args: Parameters<GitProgramRepository['fileHistories']>) {
    this.walks += 1;
    return super.fileHistories(...args);
  }
}

describe('the last good versions of many broken files', () => {
  let fixture: GitFixture;
  let repository: CountingRepository;
  eachWithRepository(CountingRepository, (given) => ({ fixture, repository } = given));
  const find = async (commit: string, paths: readonly string[]) => {
    const found = await earlierVersions(repository, { paths, commit, limits: DEFAULT_MANIFEST_LIMITS });
    return Object.fromEntries([...found].flatMap(([path, { good }]) => (good ? [[path, good.commit]] : [])));
  };

  it('are found in one walk through the history, also when some never were whole', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `teams/"t" ${index}/é ${index}.yaml`);
    const files = (text: (name: string) => string) =>
      Object.fromEntries(names.map((name) => [name, text(name)]));
    const good = fixture.commit(files((name) => configMap(`c${names.indexOf(name)}`)));
    fixture.commit({ 'never.yaml': BROKEN });
    const commit = fixture.commit(files(() => BROKEN));
    expect(await find(commit, [...names, 'never.yaml'])).toEqual(
      Object.fromEntries(names.map((name) => [name, good])),
    );
    expect(repository.walks).toBe(1);
  });

  it('are found although the others changed often since', async () => {
    const old = fixture.commit({ 'old.yaml': configMap('old'), 'quiet.yaml': configMap('quiet') });
    fixture.commit({ 'old.yaml': BROKEN, 'never.yaml': BROKEN });
    let busy = '';
    for (let round = 0; round < 40; round++) {
      busy = fixture.commit({ 'busy.yaml': configMap(`b${round}`) });
      fixture.commit({ 'busy.yaml': `${BROKEN}${round}`, 'never.yaml': `${BROKEN}${round}` });
    }
    const commit = fixture.commit({ 'quiet.yaml': BROKEN });
    expect(await find(commit, ['busy.yaml', 'never.yaml', 'old.yaml', 'quiet.yaml'])).toEqual({
      'busy.yaml': busy,
      'old.yaml': old,
      'quiet.yaml': old,
    });
    expect(repository.walks).toBeLessThanOrEqual(3);
  });
});
