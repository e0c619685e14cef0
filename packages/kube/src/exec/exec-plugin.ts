import { errorText, TransientError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import {
  type ExecCluster,
  type ExecCredential,
  parseExecCredential,
  renderExecInfo,
} from './exec-credential.ts';
import type { ExecPluginConfig } from './exec-plugin-config.ts';
import { PluginMissing, runPlugin } from './run-plugin.ts';

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
