import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A Git repository that a test writes commits into. */
export class GitFixture {
  readonly path = mkdtempSync(join(tmpdir(), 'berth-git-'));

  constructor() {
    this.run('init', '-q', '-b', 'main');
  }

  /** Writes files (undefined removes one) and commits; the commit's id. */
  commit(files: Readonly<Record<string, string | undefined>>, subject = 'change'): string {
    for (const [name, text] of Object.entries(files)) {
      const file = join(this.path, name);
      if (text === undefined) rmSync(file);
      else {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    }
    this.run('add', '-A');
    this.run('commit', '-q', '--allow-empty', '-m', subject);
    return this.run('rev-parse', 'HEAD').trim();
  }

  /** Goes back to main, and merges a branch into it as a forge does. */
  merge(branch: string): void {
    this.run('checkout', '-q', 'main');
    this.run('merge', '-q', '--no-ff', '-m', `Merge ${branch}`, branch);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Any git command in the repository; its output. */
  run(...args: string[]): string {
    const identity = {
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.org',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.org',
    };
    const env = { ...process.env, ...identity, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
    return execFileSync('git', ['-C', this.path, ...args], { env, encoding: 'utf8' });
  }
}
