import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../src/program/git-program-repository.ts';
import { GitFixture } from './git-fixture.ts';

const HUGE_BYTES = 200 * 1024 ** 2;
const IO = '/proc/thread-self/io';
/** What this thread read so far, from pipes too. */
const bytesRead = () => Number(/^rchar: (\d+)/.exec(readFileSync(IO, 'utf8'))?.[1]);

describe.runIf(existsSync(IO))('a huge file that takes little room in a repository', () => {
  it('is refused by its size, without reading it, and the others are answered', async () => {
    const fixture = new GitFixture();
    const commit = fixture.commit({ 'a.yaml': 'a', 'b.yaml': 'b' });
    const script = `head -c ${HUGE_BYTES} /dev/zero | git hash-object -w --stdin`;
    const huge = execFileSync('sh', ['-c', script], { cwd: fixture.dir, encoding: 'utf8' }).trim();
    const repository = new GitProgramRepository({ gitDir: fixture.dir, ambient: process.env });
    const [a = '', b = ''] = (await repository.listTree(commit)).map(({ id }) => id);
    const read = async (ids: readonly string[]) => {
      const answers: string[] = [];
      await repository.readBlobs(ids, { maxBytes: 1_000 }, (blob) => {
        answers.push(blob.state === 'read' ? blob.bytes.toString() : `${blob.state} ${blob.id === huge}`);
      });
      return answers;
    };
    const before = bytesRead();
    const answers = await Promise.all([
      read([a, huge, b, huge]),
      repository.commit(commit),
      read([huge]),
      read([b, 'f'.repeat(40), a]),
    ]);
    expect(bytesRead() - before).toBeLessThan(HUGE_BYTES / 4);
    expect(answers).toMatchObject([
      ['a', 'too-large true', 'b', 'too-large true'],
      { id: commit },
      ['too-large true'],
      ['b', 'missing false', 'a'],
    ]);
    await repository.close();
    fixture.remove();
  });
});
