import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { TransientError, errorText } from '@berth/runtime/errors';
import { childProcessGroups, killGroup } from '@berth/runtime/processes/process-groups';

export interface KustomizeInput {
  /** The folder of the kustomization, relative to the repository. */
  readonly folder: string;
  /** The files that it may read: path in the repository to content. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number | undefined;
}

export type KustomizeResult =
  | { readonly ok: true; readonly text: string }
  /** `no-kubectl`: kubectl is not installed. `stopped`: a retry may succeed when the machine is less busy. */
  | { readonly ok: false; readonly reason: 'no-kubectl' | 'failed' | 'stopped'; readonly message: string };

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** A limit of the address space: a file of a few hundred bytes may expand beyond any memory. */
const MAX_MEMORY_BYTES = 2 * 1024 ** 3;
/** The port of the discard service, where nothing listens. */
const DISCARD_PROXY = 'http://127.0.0.1:9';
/** Entry names that are valid in git but not in a file system. */
const BAD_NAME: ReadonlySet<string | undefined> = new Set(['ENAMETOOLONG', 'ENOTDIR', 'EEXIST', 'EISDIR']);

/**
 * Renders a kustomization with the kustomize inside kubectl, in a folder with only the given files:
 * no cluster, no home, no plugins, no Helm, and no remote git access. Errors of the kustomization
 * are returned as values.
 * @throws TransientError when the folder cannot be written, or kubectl cannot be started
 */
export async function kubectlKustomize(input: KustomizeInput): Promise<KustomizeResult> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'berth-kustomize-')).catch(cannotWrite);
  try {
    for (const [file, content] of input.files) {
      const problem = await writeInput(path.join(root, file), content);
      if (problem !== undefined) return failed(`${file} cannot be written to disk: ${problem}`);
    }
    return await render(root, input);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/**
 * Writes the file.
 * @returns why it cannot be written on any disk; undefined if it was written
 */
async function writeInput(target: string, content: Buffer): Promise<string | undefined> {
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return BAD_NAME.has(code) ? code : cannotWrite(error);
  }
}

function cannotWrite(cause: unknown): never {
  throw new TransientError(`cannot be written: ${errorText(cause)}`, {
    code: 'source.kustomize-folder',
    subject: `Temporary folder ${os.tmpdir()}`,
    cause,
  });
}

function failed(message: string): KustomizeResult {
  return { ok: false, reason: 'failed', message };
}

async function render(
  root: string,
  { folder, ambient, timeoutMs }: KustomizeInput,
): Promise<KustomizeResult> {
  const ended = await runBounded({
    commandLine: ['kubectl', 'kustomize', path.join(root, folder)],
    // Not the folder: an empty entry of PATH means the current directory, and the repository may contain a file named kubectl.
    cwd: '/',
    env: environment(ambient['PATH'] || '/nonexistent'),
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    maxMemoryBytes: MAX_MEMORY_BYTES,
  });
  switch (ended.kind) {
    case 'exited': {
      if (ended.exitCode === 0) return { ok: true, text: ended.stdout };
      if (/(?:^|\n)(?:runtime|fatal error): (?:.*out of memory|.*cannot allocate)/.test(ended.stderr))
        return failed(`it took more memory than ${MAX_MEMORY_BYTES} bytes`);
      // The path of the temporary folder is of no use to users.
      const problem = problemIn(ended.stderr.trim() || `kubectl ended with exit code ${ended.exitCode}`)
        .replaceAll(`${root}/`, '')
        .replaceAll(root, '.');
      return failed(problem.replaceAll(/\s*\n\s*/g, ' ').slice(0, 1000));
    }
    case 'not-found':
      return { ok: false, reason: 'no-kubectl', message: 'kubectl is not installed' };
    case 'killed':
      return { ok: false, reason: 'stopped', message: `kubectl was ended by ${ended.signal}` };
    case 'too-much-output':
      return failed(`it was rendered to more than ${MAX_OUTPUT_BYTES} bytes`);
    case 'too-slow':
      return {
        ok: false,
        reason: 'stopped',
        message: `it was not rendered within ${timeoutMs ?? TIMEOUT_MS} ms`,
      };
  }
}

function environment(searchPath: string): Record<string, string> {
  return {
    PATH: searchPath,
    // Not the folder: kustomize may start git, which would use a .gitconfig of the repository.
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    KUBECONFIG: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ALLOW_PROTOCOL: 'none',
    // A proxy address on which nothing listens, so that no remote fetch succeeds.
    HTTP_PROXY: DISCARD_PROXY,
    HTTPS_PROXY: DISCARD_PROXY,
    NO_PROXY: '',
    LC_ALL: 'C',
  };
}

/** Removes the time and process id that kubectl puts before some errors, so that the same problem always has the same text. */
function problemIn(problem: string): string {
  const logged = /^[EF]\d{4} [^\n]*\] "command failed" err=(?:("(?:[^"\\]|\\.)*")$|<\n([^]*?)\n >)/m.exec(
    problem,
  );
  if (logged === null) return problem.replace(/^error: /, '');
  const [, quoted, lines] = logged;
  if (lines !== undefined) return lines.trim();
  try {
    return JSON.parse(quoted ?? '') as string;
  } catch {
    return quoted ?? problem; // Go escapes a few characters in other ways
  }
}

interface BoundedRun {
  /** The program and its arguments. */
  readonly commandLine: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** A limit of the address space, if the system supports it. */
  readonly maxMemoryBytes: number;
}

type BoundedResult =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly stdout: string;
      /** Only its start, because programs that crash print the reason first. */
      readonly stderr: string;
    }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not-found' | 'too-slow' | 'too-much-output' };

const MAX_STDERR_CHARS = 64 * 1024;

/** Exit code of a shell for a missing program. */
const NOT_FOUND = 127;

/**
 * Node.js cannot limit the memory of a child process; a shell can (`ulimit`), and then executes the
 * program.
 */
const LIMITED = 'ulimit -v "$1" 2>/dev/null; shift; exec "$@"';

/**
 * Runs a program with limits of time, memory and output. It leads a process group, which is killed
 * as a group, because kubectl may be a wrapper that starts another program.
 * @throws TransientError `source.kustomize-start` when the shell cannot be started
 */
export function runBounded(run: BoundedRun): Promise<BoundedResult> {
  const kilobytes = String(Math.floor(run.maxMemoryBytes / 1024));
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', LIMITED, 'sh', kilobytes, ...run.commandLine], {
      cwd: run.cwd,
      env: { ...run.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const untrack = childProcessGroups.track(child.pid);
    let stopped: BoundedResult | undefined;
    const stop = (kind: 'too-slow' | 'too-much-output'): void => {
      stopped ??= { kind };
      killGroup(child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => stop('too-slow'), run.timeoutMs);
    const chunks: Buffer[] = [];
    let [bytes, stderr] = [0, ''];
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > run.maxOutputBytes) stop('too-much-output');
      else chunks.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_CHARS) stderr += chunk.toString('utf8');
    });
    child.once('error', (cause) => {
      clearTimeout(timer);
      const details = { code: 'source.kustomize-start', subject: run.commandLine[0] ?? '', cause };
      reject(new TransientError(`could not be started: ${cause.message}`, details));
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(timer);
      untrack();
      if (stopped !== undefined) return resolve(stopped);
      if (signal !== null) return resolve({ kind: 'killed', signal });
      if (exitCode === NOT_FOUND) return resolve({ kind: 'not-found' });
      const stdout = Buffer.concat(chunks).toString('utf8');
      resolve({ kind: 'exited', exitCode: exitCode ?? 1, stdout, stderr });
    });
  });
}
