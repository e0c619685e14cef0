import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { InputError, TransientError } from '@berth/runtime/errors';
import { childProcessGroups } from '@berth/runtime/processes/process-groups';
import { gitFailure } from '../repository/git-failure.ts';
import type { BlobContent } from '../repository/git-repository.ts';

interface Request {
  /** `contents` reads objects; `info` reads only their id, type and size. */
  readonly command: 'contents' | 'info';
  readonly ids: readonly string[];
  readonly maxBytes: number;
  readonly onBlob: (blob: BlobContent) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  done: number;
  failure: { readonly error: unknown } | undefined;
}

/** A blob larger than `maxBytes` is read and discarded. For one larger than this, the process is replaced instead. */
const MAX_DRAINED_BYTES = 64 * 1024 ** 2;

/** The blob whose content is being received. */
interface IncomingBlob {
  readonly id: string;
  readonly sizeBytes: number;
  /** Bytes still to be received, including the newline after the content. */
  remaining: number;
  readonly chunks: Buffer[] | undefined;
}

/**
 * Reads objects through one long-lived `git cat-file --batch-command --buffer`, so that no process is started for each blob. It also
 * finds objects that are fetched later. When the process ends, the requests in flight fail, and the next request starts a new one.
 */
export class CatFile {
  readonly #gitDir: string;
  readonly #environment: Readonly<Record<string, string>>;
  #process: ChildProcessWithoutNullStreams | undefined;
  readonly #requests: Request[] = [];
  #incoming: IncomingBlob | undefined;
  #header: Buffer = Buffer.alloc(0);

  constructor(gitDir: string, environment: Readonly<Record<string, string>>) {
    this.#gitDir = gitDir;
    this.#environment = environment;
  }

  /**
   * Calls `onBlob` once for each id, in order.
   * @throws TransientError `git.stopped` or `git.corrupt` when git ends before the last one, and InputError
   * `git.partial-clone` when it would have to fetch one
   */
  async read(ids: readonly string[], maxBytes: number, onBlob: (blob: BlobContent) => void): Promise<void> {
    if (ids.length > 0) await this.#enqueue({ command: 'contents', ids, maxBytes, onBlob });
  }

  /** Id of the object that a revision names; undefined when there is none. */
  async resolve(revision: string): Promise<string | undefined> {
    let id: string | undefined;
    await this.#enqueue({
      command: 'info',
      ids: [revision],
      maxBytes: 0,
      onBlob: (blob) => {
        if (blob.state === 'too-large') id = blob.id;
      },
    });
    return id;
  }

  #enqueue(request: Pick<Request, 'command' | 'ids' | 'maxBytes' | 'onBlob'>): Promise<void> {
    return new Promise((resolve, reject) => {
      const pending = { ...request, resolve, reject, done: 0, failure: undefined };
      this.#requests.push(pending);
      this.#send(pending);
    });
  }

  /** Writes the commands for the ids of the request whose objects have not arrived yet. */
  #send({ command, ids, done }: Pick<Request, 'command' | 'ids' | 'done'>): void {
    const lines = ids.slice(done).map((id) => `${command} ${id}\n`);
    this.#runningProcess().stdin.write(`${lines.join('')}flush\n`);
  }

  async close(): Promise<void> {
    const git = this.#process;
    if (git === undefined) return;
    const closed = new Promise<void>((resolve) => git.once('close', () => resolve()));
    git.stdin.end();
    await closed;
  }

  #runningProcess(): ChildProcessWithoutNullStreams {
    if (this.#process !== undefined) return this.#process;
    const git = spawn('git', ['cat-file', '--batch-command', '--buffer'], {
      cwd: this.#gitDir,
      env: { ...this.#environment },
      stdio: 'pipe',
    });
    this.#process = git;
    const untrack = childProcessGroups.track(git.pid);
    const stderr: Buffer[] = [];
    git.stderr.on('data', (chunk: Buffer) => stderr.length < 16 && stderr.push(chunk));
    git.stdout.on('data', (chunk: Buffer) => this.#receive(git, chunk));
    git.stdin.on('error', () => undefined); // EPIPE: the close event reports the failure
    const ended = (cause?: unknown): void => this.#ended(git, Buffer.concat(stderr).toString('utf8'), cause);
    git.once('error', ended);
    git.once('close', () => {
      untrack();
      ended();
    });
    return git;
  }

  #ended(git: ChildProcessWithoutNullStreams, stderr: string, cause: unknown): void {
    if (this.#process !== git) return;
    this.#process = undefined;
    this.#incoming = undefined;
    this.#header = Buffer.alloc(0);
    const failed = this.#requests.splice(0);
    if (failed.length === 0) return;
    const known = gitFailure(stderr, this.#gitDir);
    const error =
      known instanceof InputError
        ? known
        : new TransientError(`git cat-file ended while blobs were read: ${stderr.trim() || 'no message'}`, {
            code: known.code === 'git.corrupt' ? 'git.corrupt' : 'git.stopped',
            subject: this.#gitDir,
            cause,
          });
    for (const request of failed) request.reject(error);
  }

  #receive(git: ChildProcessWithoutNullStreams, chunk: Buffer): void {
    if (this.#process !== git) return; // output of a process that was replaced
    let rest: Buffer = this.#header.length === 0 ? chunk : Buffer.concat([this.#header, chunk]);
    this.#header = Buffer.alloc(0);
    while (rest.length > 0 && this.#process === git) {
      if (this.#incoming === undefined) {
        const newline = rest.indexOf(0x0a);
        if (newline === -1) {
          this.#header = rest;
          return;
        }
        this.#startBlob(rest.toString('latin1', 0, newline));
        rest = rest.subarray(newline + 1);
      } else {
        const part = rest.subarray(0, this.#incoming.remaining);
        this.#incoming.remaining -= part.length;
        this.#incoming.chunks?.push(part);
        rest = rest.subarray(part.length);
        if (this.#incoming.remaining === 0) this.#finishBlob(this.#incoming);
      }
    }
  }

  #startBlob(header: string): void {
    const [id = '', type = '', size = ''] = header.split(' ');
    const request = this.#requests[0];
    if (request === undefined) return;
    if (!/^\d+$/.test(size)) return this.#deliver({ id: request.ids[request.done] ?? id, state: 'missing' });
    const sizeBytes = Number(size);
    if (request.command === 'info') return this.#deliver({ id, state: 'too-large', sizeBytes });
    const wanted = type !== '' && sizeBytes <= request.maxBytes;
    if (!wanted && sizeBytes > MAX_DRAINED_BYTES)
      return this.#restartAfter({ id, state: 'too-large', sizeBytes });
    this.#incoming = { id, sizeBytes, remaining: sizeBytes + 1, chunks: wanted ? [] : undefined };
  }

  /** Replaces the process instead of reading a huge blob: gigabytes of zeros are a few kilobytes in a pack, but take minutes to read. */
  #restartAfter(blob: BlobContent): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
    this.#header = Buffer.alloc(0);
    this.#deliver(blob);
    for (const request of this.#requests) this.#send(request);
  }

  #finishBlob({ id, sizeBytes, chunks }: IncomingBlob): void {
    this.#incoming = undefined;
    if (chunks === undefined) return this.#deliver({ id, state: 'too-large', sizeBytes });
    const whole = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
    this.#deliver({ id, state: 'read', bytes: whole.subarray(0, sizeBytes) });
  }

  #deliver(blob: BlobContent): void {
    const request = this.#requests[0];
    if (request === undefined) return;
    // A callback that throws fails its request after the last blob: the output must be read for the later requests.
    try {
      if (request.failure === undefined) request.onBlob(blob);
    } catch (error) {
      request.failure = { error };
    }
    if (++request.done < request.ids.length) return;
    this.#requests.shift();
    if (request.failure === undefined) request.resolve();
    else request.reject(request.failure.error);
  }
}
