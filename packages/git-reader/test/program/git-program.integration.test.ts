import path from 'node:path';
import { GitProgramMirror } from '../../src/program/git-program-mirror.ts';
import { GitProgramRepository } from '../../src/program/git-program-repository.ts';
import { tempDir } from '../git-fixture.ts';
import { describeGitRepository } from '../repository-contract.ts';

describeGitRepository(
  'the git program on a repository in place',
  async (fixture) => new GitProgramRepository({ gitDir: fixture.dir, ambient: process.env }),
);

describeGitRepository('the git program on a mirror of a path', async (fixture, refs) => {
  const mirror = await GitProgramMirror.open({
    url: fixture.dir,
    mirrorDir: path.join(tempDir(), 'mirror.git'),
    ambient: process.env,
  });
  for (const ref of refs) await mirror.fetch(ref);
  return mirror;
});
