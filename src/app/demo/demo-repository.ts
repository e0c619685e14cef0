import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { simpleGit, type SimpleGit } from 'simple-git';
import { hasGitProgram, needsGitProgram } from '@berth/git-reader/program/git-program';
import { type Document, parseDocument } from 'yaml';

/** The Git repository of the demo: a bare one that the controller follows, and a clone in which changes are made. */
export interface DemoRepository {
  /** `file://` URL of the bare repository. */
  readonly url: string;
  /** Work tree of the clone, in which users can edit and push. */
  readonly cloneDir: string;
  /** Whether the branch contains the change already. */
  has(change: DemoChange): Promise<boolean>;
  /**
   * Commits an edit of one YAML file on `branch` (created from main if needed) and pushes it. Does
   * nothing if `branch` already has a commit with this subject.
   * @returns the commit id
   */
  change(change: DemoChange): Promise<string>;
}

export interface DemoChange {
  readonly branch: string;
  readonly subject: string;
  readonly file: string;
  /** Edits the parsed document in place. Comments are preserved. */
  readonly edit: (document: Document) => void;
}

/**
 * Opens the repository in `dir`, and creates it from `exampleDir` on the first start. Can be called
 * again after a crash at any point.
 * @throws InputError `git.needs-program`
 */
export async function openDemoRepository(dir: string, exampleDir: string): Promise<DemoRepository> {
  if (!(await hasGitProgram(process.env))) throw needsGitProgram('The demo', 'making its repository');
  const bareDir = join(dir, 'fleet.git');
  const cloneDir = join(dir, 'fleet');
  await mkdir(bareDir, { recursive: true });
  await mkdir(cloneDir, { recursive: true });
  await gitIn(bareDir).raw(['init', '--quiet', '--bare', '--initial-branch=main']);
  const git = gitIn(cloneDir);
  await git.raw(['init', '--quiet', '--initial-branch=main']);
  await git.raw(['config', 'remote.origin.url', bareDir]);
  await git.raw(['config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*']);
  if (!(await hasCommit(git, 'HEAD'))) {
    await cp(exampleDir, cloneDir, { recursive: true });
    await commitAll(git, 'Place the guestbook');
  }
  // Pushed on every start, because a crash may have happened between commit and push.
  await git.raw(['push', '--quiet', 'origin', 'main']);
  return {
    url: pathToFileURL(bareDir).href,
    cloneDir,
    has: (change) => hasChange(git, change),
    change: (change) => applyChange(git, cloneDir, change),
  };
}

async function applyChange(git: SimpleGit, cloneDir: string, change: DemoChange): Promise<string> {
  // Discards uncommitted edits of a killed run.
  await git.raw(['reset', '--quiet', '--hard']);
  const isNew = !(await hasCommit(git, `refs/heads/${change.branch}`));
  await git.raw(['checkout', '--quiet', ...(isNew ? ['-b', change.branch, 'main'] : [change.branch])]);
  if (!(await hasChange(git, change))) {
    const path = join(cloneDir, change.file);
    const document = parseDocument(await readFile(path, 'utf8'));
    change.edit(document);
    await writeFile(path, document.toString({ lineWidth: 0 }));
    await commitAll(git, change.subject);
  }
  await git.raw(['push', '--quiet', 'origin', change.branch]);
  const commit = await git.raw(['rev-parse', 'HEAD']);
  await git.raw(['checkout', '--quiet', 'main']);
  return commit.trim();
}

/** Recognises the change by the subject of its commit, so that a demo continues after a crash. */
async function hasChange(git: SimpleGit, { branch, subject }: DemoChange): Promise<boolean> {
  const subjects = await git
    .raw(['log', '--format=%s', '--max-count=50', `refs/heads/${branch}`])
    .catch(() => '');
  return subjects.split('\n').includes(subject);
}

async function commitAll(git: SimpleGit, subject: string): Promise<void> {
  await git.raw(['add', '--all']);
  await git.raw(['commit', '--quiet', '--message', subject]);
}

async function hasCommit(git: SimpleGit, revision: string): Promise<boolean> {
  const found = await git.raw(['rev-parse', '--quiet', '--verify', `${revision}^{commit}`]).catch(() => '');
  return found.trim() !== '';
}

/** Git without user configuration, so that the demo behaves the same on every machine. */
function gitIn(dir: string): SimpleGit {
  return simpleGit({
    baseDir: dir,
    config: [
      'user.name=Berth demo',
      'user.email=demo@berth.invalid',
      'commit.gpgsign=false',
      'core.autocrlf=false',
    ],
    allowEnvironment: ['GIT_CONFIG_NOSYSTEM'],
  }).env({ PATH: process.env['PATH'] ?? '', HOME: dir, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' });
}
