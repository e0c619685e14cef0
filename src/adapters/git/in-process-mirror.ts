import fs from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import git from 'isomorphic-git';
import { BerthError, InputError, TransientError, errorText } from '../../core/errors.ts';
import { authorize, checkAuthFits, NO_AUTH, tellRefused } from './git-auth.ts';
import type { MirrorOptions } from './git-program-mirror.ts';
import { checkGitRef, formatGitRef, selectSemverTag } from './git-ref.ts';
import type { FetchOptions, GitMirror, GitRef, PinName } from './git-repository.ts';
import { parseGitUrl } from './git-url.ts';
import { gitHttpClient } from './http-client.ts';
import { InProcessRepository } from './in-process-repository.ts';
import { lockMirror } from './mirror-lock.ts';

const DEFAULT_FETCH_TIMEOUT_MS = 10 * 60_000;
/** Packs are held in memory here, so the limit is far below the git program's. */
const DEFAULT_MAX_BYTES = 512 * 1024 ** 2;

/** A mirror without a git program: https and http through isomorphic-git; a local path is read where it lies; no ssh. */
export class InProcessMirror extends InProcessRepository implements GitMirror {
  readonly #options: MirrorOptions;
  readonly #remote: boolean;
  readonly #unlock: () => Promise<void>;

  private constructor(options: MirrorOptions, gitDir: string, remote: boolean, unlock: () => Promise<void>) {
    super(gitDir);
    this.#options = options;
    this.#remote = remote;
    this.#unlock = unlock;
  }

  /** InputError `git.needs-program` for ssh, and what GitProgramMirror.open throws. */
  static async open(options: MirrorOptions): Promise<InProcessMirror> {
    const url = parseGitUrl(options.url);
    checkAuthFits(url, options.auth ?? NO_AUTH);
    if (url.transport === 'ssh')
      throw new InputError('ssh needs the git program, which is not used here', {
        code: 'git.needs-program',
        subject: `Git repository ${url.text}`,
        hint: 'install git, or use the https URL of the repository',
      });
    if (url.transport === 'file') {
      const place = url.text.startsWith('file:') ? fileURLToPath(url.text) : url.text;
      const worktree = await readFile(path.join(place, '.git', 'HEAD')).then(
        () => true,
        () => false,
      );
      return new InProcessMirror(
        options,
        worktree ? path.join(place, '.git') : place,
        false,
        async () => undefined,
      );
    }
    await mkdir(options.mirrorDir, { recursive: true });
    const unlock = await lockMirror(options.mirrorDir);
    try {
      await prepare(options);
      return new InProcessMirror(options, options.mirrorDir, true, unlock);
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  async fetch(ref: GitRef, options: FetchOptions = {}): Promise<string> {
    checkGitRef(ref);
    // A repository that is read in place may have grown since; what was remembered of its packs goes.
    this.cache = {};
    if (!this.#remote) return this.resolve(ref);
    if (ref.type === 'commit') {
      const known = await this.resolve(ref).catch(() => undefined);
      if (known !== undefined) return known;
    }
    const signals = [AbortSignal.timeout(this.#options.fetchTimeoutMs ?? DEFAULT_FETCH_TIMEOUT_MS)];
    if (options.signal !== undefined) signals.push(options.signal);
    try {
      await this.#fetch(ref, AbortSignal.any(signals));
      options.onAnswered?.();
    } catch (error) {
      const meaning = this.#meaning(error, ref);
      tellRefused(meaning, this.#options.auth);
      throw meaning;
    }
    return this.resolve(ref);
  }

  async pin(name: PinName, commit: string): Promise<void> {
    // A repository that is read in place belongs to somebody else.
    if (!this.#remote) return;
    await git.writeRef({ ...this.store, ref: `refs/berth/${name}`, value: commit, force: true });
  }

  pinned(name: PinName): Promise<string | undefined> {
    return this.commitOf(`refs/berth/${name}`);
  }

  /** There is nothing here that packs could be put together with. */
  async tidy(): Promise<void> {}

  override async close(): Promise<void> {
    await super.close();
    await this.#unlock();
  }

  async #fetch(ref: GitRef, signal: AbortSignal): Promise<void> {
    const { url, auth = NO_AUTH, caFile, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const { header } = await authorize(parseGitUrl(url), auth);
    const http = gitHttpClient({
      url,
      authorization: header,
      ca: caFile === undefined ? undefined : await readFile(caFile, 'utf8'),
      signal,
      maxBytes,
    });
    const keepAs = async (remoteRef: string, localRef: string, singleBranch = true): Promise<void> => {
      const got = await git.fetch({
        ...this.store,
        http,
        url,
        remote: 'origin',
        ref: remoteRef,
        singleBranch,
      });
      if (got.fetchHead === null) throw new git.Errors.NotFoundError(remoteRef);
      await git.writeRef({ ...this.store, ref: localRef, value: got.fetchHead, force: true });
    };
    switch (ref.type) {
      case 'head':
        return keepAs('HEAD', 'refs/berth/head');
      case 'branch':
        return keepAs(`refs/heads/${ref.name}`, `refs/heads/${ref.name}`);
      case 'tag':
        return keepAs(`refs/tags/${ref.name}`, `refs/tags/${ref.name}`);
      case 'commit':
        // Servers cannot be asked for an id in this protocol version: every branch is fetched, and looked through.
        return keepAs('HEAD', 'refs/berth/head', false);
      case 'semver': {
        const refs = await git.listServerRefs({ http, url, prefix: 'refs/tags/', protocolVersion: 1 });
        const tags = refs.map((entry) => entry.ref.replace(/^refs\/tags\//, ''));
        const tag = selectSemverTag(tags, ref.range);
        if (tag === undefined) throw new git.Errors.NotFoundError(formatGitRef(ref));
        // Tags that are gone on the remote must not win over the ones that are there.
        for (const old of await git.listTags(this.store))
          if (!tags.includes(old)) await git.deleteRef({ ...this.store, ref: `refs/tags/${old}` });
        return keepAs(`refs/tags/${tag}`, `refs/tags/${tag}`);
      }
    }
  }

  #meaning(error: unknown, ref: GitRef): BerthError {
    if (error instanceof BerthError) return error;
    const subject = `Git repository ${this.#options.url}`;
    if (error instanceof git.Errors.NotFoundError)
      return new InputError(`the remote has no ${formatGitRef(ref)}`, {
        code: 'git.ref-not-found',
        subject,
        cause: error,
      });
    if (error instanceof git.Errors.HttpError) {
      const { statusCode } = error.data;
      if (statusCode === 401 || statusCode === 403)
        return new InputError('the remote refused the credentials', {
          code: 'git.auth',
          subject,
          cause: error,
        });
      if (statusCode >= 300 && statusCode < 400)
        return new InputError('the remote answers at another address, which is not followed', {
          code: 'git.redirect',
          subject,
          hint: 'give the source the address that the remote points to; often it is the same with .git at its end',
          cause: error,
        });
      if (statusCode === 404)
        return new InputError('there is no such repository, or the credentials may not see it', {
          code: 'git.repository-not-found',
          subject,
          cause: error,
        });
    }
    return new TransientError(`git failed: ${errorText(error)}`, {
      code: 'git.failed',
      subject,
      cause: error,
    });
  }
}

async function prepare({ mirrorDir, url }: MirrorOptions): Promise<void> {
  const store = { fs, gitdir: mirrorDir };
  const recorded: unknown = await git
    .getConfig({ ...store, path: 'remote.origin.url' })
    .catch(() => undefined);
  if (recorded === url) return;
  for (const part of ['objects', 'refs', 'HEAD', 'config', 'packed-refs', 'shallow'])
    await rm(path.join(mirrorDir, part), { recursive: true, force: true });
  await git.init({ ...store, dir: mirrorDir, bare: true, defaultBranch: 'main' });
  // Written last: it says that the mirror is whole. It also holds the refspec that isomorphic-git asks for.
  await git.addRemote({ ...store, remote: 'origin', url, force: true });
}
