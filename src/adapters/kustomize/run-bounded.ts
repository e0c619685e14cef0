import { spawn } from 'node:child_process';
import { TransientError } from '@berth/runtime/errors';
import { childProcessGroups } from '@berth/runtime/processes/child-process-groups';
import { killGroup } from '@berth/runtime/processes/kill-group';

export interface BoundedRun {
  /** The program and its arguments. */
  readonly commandLine: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** A limit of the address space, if the system supports it. */
  readonly maxMemoryBytes: number;
}

export type BoundedResult =
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
