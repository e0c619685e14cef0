import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, TransientError } from '@berth/runtime/errors';
import { childProcessGroups, killGroup } from '@berth/runtime/processes/process-groups';
import {
  type ExecCluster,
  type ExecCredential,
  parseExecCredential,
  renderExecInfo,
  type ExecPluginConfig,
} from './exec-credential.ts';

/** A plugin that cannot prompt the user is stopped after this time. */
const LIMIT_MS = 60_000;

export interface PluginOwner {
  /** The name of the user in the kubeconfig, for errors. */
  readonly user: string;
  readonly config: ExecPluginConfig;
  /** The environment of the plugin. The kubeconfig may add variables. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether this process has a terminal on standard input. */
  readonly isTerminal: () => boolean;
}

export interface PluginOptions {
  readonly clock: Clock;
  /** The cluster information, for a plugin that requests it. */
  readonly cluster: ExecCluster;
  /** The credential that the server refused. The plugin runs again, unless it has run since. */
  readonly refused?: ExecCredential | undefined;
  /** Aborts when the caller no longer waits. When all callers have aborted, the plugin is killed. */
  readonly signal?: AbortSignal | undefined;
}

interface Run {
  readonly result: Promise<ExecCredential>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Credentials of an exec plugin. They are cached until they expire or the server refuses them. Concurrent callers share
 * one run of the plugin.
 * Source of the rules: kubernetes/client-go, plugin/pkg/client/auth/exec/exec.go. Unlike there, a plugin that does not
 * end is stopped.
 */
export class ExecPlugin {
  readonly #owner: PluginOwner;
  #current: ExecCredential | undefined;
  #run: Run | undefined;

  constructor(owner: PluginOwner) {
    this.#owner = owner;
  }

  /**
   * @throws TransientError `kubeconfig.exec` when there is no such program (the hint is the install hint), or when it
   *   fails, hangs or prints anything else; or the reason of the signal
   */
  async credential(options: PluginOptions): Promise<ExecCredential> {
    const { clock, refused, signal } = options;
    const { expiresAtMs = Infinity } = this.#current ?? {};
    if (this.#current !== undefined && this.#current !== refused && clock.now() <= expiresAtMs)
      return this.#current;
    const run = (this.#run ??= this.#start(options));
    run.waiting += 1;
    return await orAborted(run.result, signal, () => {
      run.waiting -= 1;
      if (run.waiting > 0) return;
      // Later callers get a run of their own.
      this.#forget(run);
      run.controller.abort(signal?.reason);
    });
  }

  #start(options: PluginOptions): Run {
    const controller = new AbortController();
    const run: Run = { result: this.#refresh(options, controller), controller, waiting: 0 };
    const forget = (): void => this.#forget(run);
    run.result.then(forget, forget);
    return run;
  }

  #forget(run: Run): void {
    if (this.#run === run) this.#run = undefined;
  }

  async #refresh({ clock, cluster }: PluginOptions, controller: AbortController): Promise<ExecCredential> {
    const { config, env, user } = this.#owner;
    const interactive = this.#isInteractive();
    const info = renderExecInfo(config, interactive, cluster);
    const { command, args } = config;
    const added = Object.fromEntries(config.env.map(({ name, value }) => [name, value]));
    const onTimeout = (): void => controller.abort(new Error(`did not end within ${LIMIT_MS / 1000} s`));
    const endLimit = interactive ? () => undefined : clock.schedule(LIMIT_MS, onTimeout);
    try {
      const environment = { ...env, ...added, KUBERNETES_EXEC_INFO: info };
      const printed = await runPlugin({
        command,
        args,
        env: environment,
        interactive,
        signal: controller.signal,
      });
      this.#current = parseExecCredential(printed, config.apiVersion);
      return this.#current;
    } catch (error) {
      throw pluginError(error, user, config);
    } finally {
      endLimit();
    }
  }

  #isInteractive(): boolean {
    const { config, isTerminal, user } = this.#owner;
    if (config.interactiveMode === 'Never') return false;
    const interactive = isTerminal();
    if (interactive || config.interactiveMode === 'IfAvailable') return interactive;
    throw pluginError(new Error('needs a terminal, but standard input is not one'), user, config);
  }
}

/** Rejects with the reason of the signal if it aborts first. */
function orAborted<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  onAborted: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      onAborted();
      reject(signal?.reason as Error);
    };
    const settle = (): void => signal?.removeEventListener('abort', onAbort);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    result.finally(settle).then(resolve, reject);
  });
}

function pluginError(
  cause: unknown,
  user: string,
  { command, installHint }: ExecPluginConfig,
): TransientError {
  const hint = printable(installHint) || 'install it, or correct exec.command in the kubeconfig';
  return new TransientError(`exec plugin ${JSON.stringify(command)} ${errorText(cause)}`, {
    code: 'kubeconfig.exec',
    subject: `user "${user}" of the kubeconfig`,
    hint: cause instanceof PluginMissing ? hint : undefined,
  });
}

/** Escapes control characters except white space: an install hint comes from a file, and is shown in a terminal. */
function printable(text: string): string {
  return text
    .trim()
    .replace(
      /[^\P{C}\t\n\v\f\r]/gu,
      (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
    );
}

interface PluginCall {
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
function runPlugin({ command, args, env, interactive, signal }: PluginCall): Promise<string> {
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
class PluginMissing extends Error {
  constructor() {
    super('was not found, or may not be executed');
  }
}

function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR';
}
