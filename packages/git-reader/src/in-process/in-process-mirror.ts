import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BerthError, InputError, TransientError, errorText } from '@berth/runtime/errors';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import git, { type GitHttpResponse, type HttpClient } from 'isomorphic-git';
import {
  clearMirror,
  DEFAULT_FETCH_TIMEOUT_MS,
  lockMirrorDirectory,
  mirrorExists,
  type MirrorOptions,
} from '../mirror/mirror-lock.ts';
import { needsGitProgram } from '../program/git-program.ts';
import { authorize, checkAuthMatchesUrl, NO_AUTH, reportRefusedAuth } from '../repository/git-auth.ts';
import { resolveGitDir } from '../repository/git-dir.ts';
import { checkGitRef, formatGitRef, otherKindsHint, selectSemverTag } from '../repository/git-ref.ts';
import type { FetchOptions, GitMirror, GitRef, PinName } from '../repository/git-repository.ts';
import { parseGitUrl } from '../repository/git-url.ts';
import { recordShallow } from '../repository/incomplete-clone.ts';
import { gitHttpClient } from './http-client.ts';
import { requireReadable, privateFs } from './in-process-limits.ts';
import { InProcessRepository } from './in-process-repository.ts';
import { checkPackBounds } from './pack-bounds.ts';

/** The last fetched commit, from which the next fetch negotiates. */
const FETCHED_REF = 'refs/berth/fetched';
/** Packs are held in memory, so the limit is far below that of the git program. */
const DEFAULT_MAX_BYTES = 512 * 1024 ** 2;

/**
 * A mirror without a git program. It fetches https and http through isomorphic-git, reads a local path in place, and does
 * not support ssh. Every fetch that receives objects adds a pack, and packs are never combined.
 */
export class InProcessMirror extends InProcessRepository implements GitMirror {
  readonly #options: MirrorOptions;
  readonly #isRemote: boolean;
  #unlock: () => Promise<void>;
  timesRecreated = 0;

  private constructor(options: MirrorOptions, gitDir: string, remote: boolean, unlock: () => Promise<void>) {
    super(gitDir);
    this.#options = options;
    this.#isRemote = remote;
    this.#unlock = unlock;
  }

  /** @throws InputError `git.needs-program` for ssh, and the errors of GitProgramMirror.open */
  static async open(options: MirrorOptions): Promise<InProcessMirror> {
    const url = parseGitUrl(options.url);
    checkAuthMatchesUrl(url, options.auth ?? NO_AUTH);
    if (url.transport === 'ssh')
      throw needsGitProgram(`Git repository ${url.text}`, 'ssh', 'use the https URL of the repository');
    const unlock = await lockMirrorDirectory(options.mirrorDir);
    try {
      if (url.transport === 'file')
        return new InProcessMirror(options, await localGitDir(url.text), false, unlock);
      await openOrCreate(options);
      return new InProcessMirror(options, options.mirrorDir, true, unlock);
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  async fetch(ref: GitRef, options: FetchOptions = {}): Promise<string> {
    checkGitRef(ref);
    // A repository that is read in place may have new packs.
    this.cache = {};
    if (!(await mirrorExists(this.#options.mirrorDir, this.#isRemote ? 'HEAD' : ''))) await this.#recreate();
    if (!this.#isRemote) {
      await this.#locateLocal();
      const found = await this.resolve(ref);
      options.onObjectsReceived?.();
      return found;
    }
    if (ref.type === 'commit' && options.refetchAll !== true) {
      const known = await this.resolve(ref).catch(() => undefined);
      if (known !== undefined) return known;
    }
    try {
      const commit = await this.#fetchRef(ref, options);
      if (options.refetchAll !== true) return commit;
    } catch (error) {
      if (!(error instanceof TransientError) || error.code !== 'git.corrupt') throw error;
    }
    // The mirror is only a cache: if it is damaged, it is removed and fetched again, once.
    await createMirror(this.#options);
    this.cache = {};
    return this.#fetchRef(ref, options);
  }

  /** Recreates the mirror after its directory was removed. */
  async #recreate(): Promise<void> {
    await this.#unlock();
    this.#unlock = await lockMirrorDirectory(this.#options.mirrorDir);
    if (this.#isRemote) await openOrCreate(this.#options);
    this.timesRecreated += 1;
  }

  async #fetchRef(ref: GitRef, options: FetchOptions): Promise<string> {
    const { fetchTimeoutMs = DEFAULT_FETCH_TIMEOUT_MS } = this.#options;
    const timeout = AbortSignal.timeout(fetchTimeoutMs);
    const { signal } = options;
    try {
      await this.#fetch(ref, signal === undefined ? timeout : AbortSignal.any([timeout, signal]));
      options.onObjectsReceived?.();
    } catch (error) {
      if (signal?.aborted === true) throw this.#interrupted('was aborted', 'git.aborted', error);
      if (timeout.aborted)
        throw this.#interrupted(`timed out after ${fetchTimeoutMs} ms`, 'git.timeout', error);
      const failure = this.#toBerthError(error, ref);
      reportRefusedAuth(failure, this.#options.auth);
      throw failure;
    }
    const commit = await this.resolve(ref).catch((cause: unknown) => {
      // A tag may point to an object other than a commit; an unreadable object is damage.
      throw cause instanceof InputError ? cause : this.#corrupt(cause);
    });
    await git.writeRef({ ...this.store, ref: FETCHED_REF, value: commit, force: true });
    return commit;
  }

  /** Finds the repository that is read in place. Its owner may have replaced it, e.g. by one with a work tree. */
  async #locateLocal(): Promise<void> {
    this.gitDir = await localGitDir(parseGitUrl(this.#options.url).text);
    const head = await stat(path.join(this.gitDir, 'HEAD')).catch(() => undefined);
    if (head === undefined)
      throw new InputError('there is no such repository', {
        code: 'git.repository-not-found',
        subject: `Git repository ${this.#options.url}`,
      });
    await requireReadable(this.gitDir);
  }

  #interrupted(problem: string, code: string, cause: unknown): TransientError {
    return new TransientError(`git fetch ${problem}`, {
      code,
      subject: `Git repository ${this.#options.url}`,
      cause,
    });
  }

  #corrupt(cause: unknown): TransientError {
    return new TransientError(`objects are missing or damaged (${errorText(cause)})`, {
      code: 'git.corrupt',
      subject: `Git mirror ${this.gitDir}`,
      cause,
    });
  }

  async pin(name: PinName, commit: string): Promise<void> {
    // A repository that is read in place must not be changed.
    if (!this.#isRemote) return writeFile(this.#pinFile(name), commit, { mode: PRIVATE_FILE_MODE });
    await git.writeRef({ ...this.store, ref: `refs/berth/${name}`, value: commit, force: true });
  }

  async pinned(name: PinName): Promise<string | undefined> {
    if (this.#isRemote) return this.commitOf(`refs/berth/${name}`);
    const commit = await readFile(this.#pinFile(name), 'utf8').catch(() => '');
    return /^[0-9a-f]{40}$/.test(commit) ? this.commitOf(commit) : undefined;
  }

  #pinFile(name: PinName): string {
    return path.join(this.#options.mirrorDir, `berth-pin-${name}`);
  }

  /** Without a git program, packs cannot be repacked. */
  async repack(): Promise<void> {}

  override async close(): Promise<void> {
    await super.close();
    await this.#unlock();
  }

  async #fetch(ref: GitRef, signal: AbortSignal): Promise<void> {
    const { url, auth = NO_AUTH, caFile, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const { header } = await authorize(parseGitUrl(url), auth);
    const client = gitHttpClient({
      url,
      authorization: header,
      ca: caFile === undefined ? undefined : await readFile(caFile, 'utf8'),
      signal,
      maxBytes,
    });
    const subject = `Git repository ${url}`;
    const shallow: string[] = [];
    const http = checkRefAdvertisement(client, {
      subject,
      shallowCommits: shallow,
      addMissingHead: ref.type !== 'head',
    });
    const fetchAs = async (remoteRef: string, localRef: string, singleBranch = true): Promise<void> => {
      const got = await git.fetch({
        ...this.store,
        fs: packCheckingFs(subject),
        http,
        url,
        remote: 'origin',
        // The remote may omit the objects of its commit, which exist here already.
        ref: FETCHED_REF,
        remoteRef,
        singleBranch,
        tags: !singleBranch,
      });
      if (got.fetchHead === null) throw new git.Errors.NotFoundError(remoteRef);
      await this.#requireReceived(got.fetchHead);
      await recordShallow(this.gitDir, shallow);
      await git.writeRef({ ...this.store, ref: localRef, value: got.fetchHead, force: true });
    };
    switch (ref.type) {
      case 'head':
        return fetchAs('HEAD', 'refs/berth/head');
      case 'branch':
        return fetchAs(`refs/heads/${ref.name}`, `refs/heads/${ref.name}`);
      case 'tag':
        return fetchAs(`refs/tags/${ref.name}`, `refs/tags/${ref.name}`);
      case 'commit':
        // In this protocol version a client cannot request a commit id, so all branches and tags
        // are fetched and searched.
        return fetchAs('HEAD', 'refs/berth/head', false);
      case 'semver': {
        const refs = await git.listServerRefs({ http, url, prefix: 'refs/tags/', protocolVersion: 1 });
        const tags = refs.map((entry) => entry.ref.replace(/^refs\/tags\//, ''));
        const tag = selectSemverTag(tags, ref.range);
        if (tag === undefined) throw new git.Errors.NotFoundError(formatGitRef(ref));
        // Tags that were deleted on the remote must not take precedence over existing ones.
        for (const old of await git.listTags(this.store))
          if (!tags.includes(old)) await git.deleteRef({ ...this.store, ref: `refs/tags/${old}` });
        return fetchAs(`refs/tags/${tag}`, `refs/tags/${tag}`);
      }
    }
  }

  /** Checks that a pack was received; isomorphic-git accepts a response without one. */
  async #requireReceived(oid: string): Promise<void> {
    await git.readObject({ ...this.store, oid, format: 'deflated' }).catch((cause: unknown) => {
      // If the object exists and cannot be read, its reader reports it as damaged.
      if (!(cause instanceof git.Errors.NotFoundError)) return;
      throw new TransientError(`the response of the remote ends before ${oid}, which it named`, {
        code: 'git.failed',
        subject: `Git repository ${this.#options.url}`,
        cause,
      });
    });
  }

  #toBerthError(error: unknown, ref: GitRef): BerthError {
    if (error instanceof BerthError) return error;
    const subject = `Git repository ${this.#options.url}`;
    if (error instanceof git.Errors.NotFoundError)
      return new InputError(`the remote does not have ${formatGitRef(ref)}`, {
        ...{ code: 'git.ref-not-found', subject },
        ...{ hint: otherKindsHint(ref), cause: error },
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
        return new InputError('the remote redirects to another address, which Berth does not follow', {
          code: 'git.redirect',
          subject,
          hint: 'use the address that the remote redirects to; often it is the same with .git at its end',
          cause: error,
        });
      if (statusCode === 404)
        return new InputError('there is no such repository, or the credentials may not see it', {
          code: 'git.repository-not-found',
          subject,
          cause: error,
        });
    }
    // An old branch or tag is a file where the new one needs a folder: `release` blocks `release/1.2`.
    if (['EISDIR', 'ENOTDIR', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code)))
      return this.#corrupt(error);
    return new TransientError(`git failed: ${errorText(error)}`, {
      code: 'git.failed',
      subject,
      cause: error,
    });
  }
}

/** A file system that checks each pack before it is written. */
function packCheckingFs(subject: string): typeof privateFs {
  const { promises } = privateFs;
  const writeChecked: typeof promises.writeFile = async (...args) => {
    const [file, data] = args;
    if (typeof file === 'string' && file.endsWith('.pack') && Buffer.isBuffer(data))
      await checkPackBounds(data, subject);
    return promises.writeFile(...args);
  };
  return { promises: { ...promises, writeFile: writeChecked } };
}

/** Keeps a mirror of the same URL, and creates it otherwise. */
async function openOrCreate(options: MirrorOptions): Promise<void> {
  const { mirrorDir: gitdir, url } = options;
  const path = 'remote.origin.url';
  const recorded: unknown = await git.getConfig({ fs: privateFs, gitdir, path }).catch(() => undefined);
  if (recorded !== url) await createMirror(options);
}

/** Initializes an empty repository for this URL, and removes any other cache. */
async function createMirror({ mirrorDir: gitdir, url }: MirrorOptions): Promise<void> {
  await clearMirror(gitdir);
  await git.init({ fs: privateFs, gitdir, dir: gitdir, bare: true, defaultBranch: 'main' });
  // Written last, to mark the mirror as complete. It also contains the refspec that isomorphic-git
  // needs.
  await git.addRemote({ fs: privateFs, gitdir, remote: 'origin', url, force: true });
}

/** The git directory of a local URL; the path itself if nothing exists there yet. Every fetch checks it. */
async function localGitDir(url: string): Promise<string> {
  const folder = url.startsWith('file:') ? fileURLToPath(url) : url;
  return (await resolveGitDir(folder)) ?? folder;
}

interface RefAdvertisementOptions {
  /** The subject of errors. */
  readonly subject: string;
  /**
   * Add a HEAD line to a list without HEAD, as a remote sends it when its HEAD names a missing branch: isomorphic-git cannot fetch
   * from a remote without HEAD.
   */
  readonly addMissingHead: boolean;
  /** Output: the ids of the `shallow` lines, which a remote that is a shallow clone sends, are appended here. */
  readonly shallowCommits: string[];
}

const ADVERTISEMENT_PATH = '/info/refs?service=git-upload-pack';

/**
 * Wraps an HTTP client so that the ref advertisement of the remote is checked before isomorphic-git reads it. isomorphic-git accepts
 * a truncated list, and would miss branches and tags; and it ignores all refs with SHA-256 ids.
 * Source: git, Documentation/gitprotocol-http.txt and gitprotocol-pack.txt (Reference Discovery).
 * @returns a client whose requests throw TransientError `git.failed` for a truncated list, InputError `git.needs-program` for SHA-256
 */
function checkRefAdvertisement(http: HttpClient, options: RefAdvertisementOptions): HttpClient {
  return {
    async request(request): Promise<GitHttpResponse> {
      const response = await http.request(request);
      const { body, statusCode } = response;
      if (body === undefined || statusCode !== 200 || !request.url.endsWith(ADVERTISEMENT_PATH))
        return response;
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return { ...response, body: singleChunk(checkAdvertisement(Buffer.concat(parts), options)) };
    },
  };
}

async function* singleChunk(bytes: Uint8Array) {
  yield bytes;
}

function checkAdvertisement(
  body: Buffer,
  { subject, addMissingHead, shallowCommits: shallow }: RefAdvertisementOptions,
): Buffer {
  const { lines, flushes } = parsePktLines(body);
  // This is not a ref advertisement. isomorphic-git reports what it is.
  if (lines.length === 0) return body;
  const hasServiceLine = lines[0]?.startsWith('# service=') === true;
  const listEnd = flushes[hasServiceLine ? 1 : 0];
  if (listEnd === undefined)
    throw new TransientError("the remote's list of refs is truncated", { code: 'git.failed', subject });
  const refs = lines.slice(hasServiceLine ? 1 : 0).filter((line) => !line.startsWith('version '));
  if (/\0.*\bobject-format=sha256\b/.test(refs[0] ?? ''))
    throw needsGitProgram(subject, 'a repository with SHA-256 ids');
  shallow.push(...refs.flatMap((line) => /^shallow ([0-9a-f]{40})/.exec(line)?.[1] ?? []));
  const advertised = refs.flatMap((line) => {
    const [, id = '', name = ''] = /^([0-9a-f]{40}) ([^\0\n]+)/.exec(line) ?? [];
    return id === '' || /^0+$/.test(id) ? [] : [{ id, name }];
  });
  const headCommit = advertised.find(({ name }) => name.startsWith('refs/heads/')) ?? advertised[0];
  if (!addMissingHead || headCommit === undefined || advertised.some(({ name }) => name === 'HEAD'))
    return body;
  const head = Buffer.from(`0032${headCommit.id} HEAD\n`);
  return Buffer.concat([body.subarray(0, listEnd), head, body.subarray(listEnd)]);
}

/** The complete pkt-lines as text, and the byte offsets of the flush packets between them. */
function parsePktLines(body: Buffer): {
  readonly lines: readonly string[];
  readonly flushes: readonly number[];
} {
  const lines: string[] = [];
  const flushes: number[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const digits = body.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : body.length;
    if (at + length > body.length) break;
    if (length === 0) flushes.push(at);
    if (length > 4) lines.push(body.toString('utf8', at + 4, at + length));
    at += Math.max(length, 4);
  }
  return { lines, flushes };
}
