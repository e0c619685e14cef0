import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { TransientError, errorText } from '@berth/runtime/errors';
import { runBounded } from './run-bounded.ts';

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
