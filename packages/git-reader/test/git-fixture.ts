import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** What a path becomes in a commit: text, bytes, a link or submodule, or nothing. */
export type FixtureFile =
  | string
  | Buffer
  | null
  | { readonly symlink: string }
  | { readonly submodule: string };

const ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** A bare repository made for a test; commits are written through `git fast-import`. */
export class GitFixture {
  readonly dir: string;
  #clock = 1_700_000_000;

  constructor() {
    this.dir = path.join(tempDir(), 'origin.git');
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', this.dir], { env: ENVIRONMENT });
    this.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  }

  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.dir,
      env: { ...ENVIRONMENT, GIT_DIR: this.dir },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    }).trim();
  }

  /** Commits on a branch (its tip is the parent) and answers the commit's id. */
  commit(
    files: Record<string, FixtureFile>,
    options: { branch?: string; message?: string; orphan?: boolean } = {},
  ): string {
    const { branch = 'main', message = 'Change', orphan = false } = options;
    const stamp = `Ada <ada@example.com> ${this.#clock++} +0000`;
    const parent = orphan ? undefined : this.tip(branch);
    const parts: (string | Buffer)[] = [
      orphan ? `reset refs/heads/${branch}\n\n` : '',
      `commit refs/heads/${branch}\nauthor ${stamp}\ncommitter ${stamp}\ndata ${Buffer.byteLength(message)}\n${message}\n`,
      parent === undefined ? '' : `from ${parent}\n`,
    ];
    for (const [name, file] of Object.entries(files)) parts.push(...fileCommands(name, file));
    this.fastImport(Buffer.concat([...parts, '\n'].map((part) => Buffer.from(part))));
    return this.git('rev-parse', `refs/heads/${branch}`);
  }

  fastImport(stream: Buffer): void {
    execFileSync('git', ['fast-import', '--quiet', '--force'], {
      cwd: this.dir,
      env: { ...ENVIRONMENT, GIT_DIR: this.dir },
      input: stream,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
  }

  tip(branch: string): string | undefined {
    try {
      return this.git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
    } catch {
      return undefined;
    }
  }

  /** A commit whose tree has these entries, names unchecked: what only an attacker writes. */
  rawCommit(entries: readonly { name: string; text: string }[], branch: string): string {
    const listing = entries.map(({ name, text }) => {
      const id = execFileSync('git', ['hash-object', '-w', '--stdin', '-t', 'blob'], {
        cwd: this.dir,
        env: ENVIRONMENT,
        input: text,
        encoding: 'utf8',
      }).trim();
      return `100644 blob ${id}\t${name}\0`;
    });
    const input = Buffer.from(listing.join(''), 'latin1');
    const env = { ...ENVIRONMENT, GIT_DIR: this.dir };
    const tree = execFileSync('git', ['mktree', '-z'], { env, input, encoding: 'utf8' }).trim();
    const commit = execFileSync('git', ['commit-tree', tree, '-m', 'raw'], { env, encoding: 'utf8' }).trim();
    this.git('update-ref', `refs/heads/${branch}`, commit);
    return commit;
  }

  /** An object of any bytes, which git is not asked about. */
  rawObject(type: 'blob' | 'tree' | 'commit', bytes: Buffer): string {
    return execFileSync('git', ['hash-object', '-w', '--stdin', '--literally', '-t', type], {
      cwd: this.dir,
      env: ENVIRONMENT,
      input: bytes,
      encoding: 'utf8',
    }).trim();
  }

  remove(): void {
    rmSync(path.dirname(this.dir), { recursive: true, force: true });
  }
}

export function tempDir(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'berth-git-'));
}

function fileCommands(name: string, file: FixtureFile): (string | Buffer)[] {
  const quoted = JSON.stringify(name);
  if (file === null) return [`D ${quoted}\n`];
  if (typeof file === 'string' || Buffer.isBuffer(file))
    return [`M 100644 inline ${quoted}\ndata ${Buffer.byteLength(file)}\n`, file, '\n'];
  if ('symlink' in file)
    return [`M 120000 inline ${quoted}\ndata ${Buffer.byteLength(file.symlink)}\n${file.symlink}\n`];
  return [`M 160000 ${file.submodule} ${quoted}\n`];
}
