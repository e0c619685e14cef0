import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { childProcessGroups } from '@berth/runtime/processes/child-process-groups';
import { killGroup } from '@berth/runtime/processes/kill-group';

export interface PluginCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /**
   * Whether the plugin may prompt the user: it then gets the standard input of this process, and stays in its process
   * group.
   */
  readonly interactive: boolean;
  /** Kills the plugin and its child processes. The reason becomes the error. */
  readonly signal: AbortSignal;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs a plugin until it ends. Its standard error goes to that of this process, as with kubectl.
 * @returns its output
 * @throws PluginMissing when there is no such program
 * @throws Error that says how it ended, without its arguments and its output
 */
export function runPlugin({ command, args, env, interactive, signal }: PluginCall): Promise<string> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  const stdio: StdioOptions = [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'];
  return new Promise((resolve, reject) => {
    let child: ChildProcess;
    try {
      child = spawn(command, [...args], { env, stdio, detached: !interactive });
    } catch {
      // The error of Node.js for an invalid argument would repeat it.
      reject(
        new Error('cannot be started: its command, its arguments or its environment contain a zero byte'),
      );
      return;
    }
    const ended = childProcessGroups.track(child.pid);
    const chunks: Buffer[] = [];
    let problem: Error | undefined;
    const stop = (reason: Error): void => {
      problem ??= reason;
      if (interactive) child.kill('SIGKILL');
      else killGroup(child.pid, 'SIGKILL');
      // Another process may keep its output open.
      child.stdout?.destroy();
    };
    const onAbort = (): void => stop(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    let sizeBytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_OUTPUT_BYTES) stop(new Error(`printed more than ${MAX_OUTPUT_BYTES} bytes`));
      else chunks.push(chunk);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      problem ??= isMissing(error) ? new PluginMissing() : new Error(`cannot be started: ${error.code}`);
      if (child.pid === undefined) finish(null, null);
    });
    const finish = (code: number | null, killedBy: NodeJS.Signals | null): void => {
      signal.removeEventListener('abort', onAbort);
      ended();
      if (problem !== undefined) reject(problem);
      else if (killedBy !== null) reject(new Error(`was ended by ${killedBy}`));
      else if (code !== 0) reject(new Error(`ended with exit code ${code}`));
      else resolve(Buffer.concat(chunks).toString('utf8'));
    };
    child.once('close', finish);
  });
}

/** There is no such program, or it is not executable. */
export class PluginMissing extends Error {
  constructor() {
    super('was not found, or may not be executed');
  }
}

function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR';
}
