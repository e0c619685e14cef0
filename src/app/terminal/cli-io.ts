/** The inputs and outputs of a command. Tests replace them, and run commands without a process. */
export interface CliIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether colours may be used on stdout: it is a terminal and NO_COLOR is not set. */
  readonly colour: boolean;
  /** Aborted on SIGINT or SIGTERM: long-running commands shut down and return. */
  readonly signal: AbortSignal;
  /** Aborted some seconds after `signal`: a command then cancels its remaining requests. */
  readonly cutOff: AbortSignal;
  /**
   * Delays `signal` after SIGTERM.
   * @param onSignal called at SIGTERM
   */
  readonly stopLater?: (delayMs: number, onSignal: () => void) => void;
}

/** 0 done or no change, 1 error, 2 `plan` found changes or a step is left to a person, 3 `serve` lost its lease to another process. */
export type ExitCode = 0 | 1 | 2 | 3;

/** Code of an error that becomes exit code 2: everything is written, but what runs then was not ready in time. */
export const NOT_READY = 'install.not-ready';
