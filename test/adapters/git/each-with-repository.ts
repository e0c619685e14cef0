import { afterEach, beforeEach } from 'vitest';
import type { GitProgramRepository } from '../../../packages/git-reader/src/program/git-program-repository.ts';
import { GitFixture } from '../../../packages/git-reader/test/git-fixture.ts';

interface Given<Reader> {
  readonly fixture: GitFixture;
  readonly repository: Reader;
}

/** Before each test of a suite `take` is given a bare repository and a reader of it; both are gone after the test. */
export function eachWithRepository<Reader extends GitProgramRepository>(
  Reader: new (...options: ConstructorParameters<typeof GitProgramRepository>) => Reader,
  take: (given: Given<Reader>) => void,
): void {
  let given: Given<Reader>;
  beforeEach(() => {
    const fixture = new GitFixture();
    given = { fixture, repository: new Reader({ gitDir: fixture.dir, ambient: process.env }) };
    take(given);
  });
  afterEach(async () => {
    await given.repository.close();
    given.fixture.remove();
  });
}
