/** The doors of a command to the outside, so that a command can be run in a test without a process. */
export interface CliIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Colour may be used on stdout: it is a terminal and NO_COLOR is unset. */
  readonly colour: boolean;
  /** Aborted on SIGINT or SIGTERM: long-running commands stop in order and return. */
  readonly signal: AbortSignal;
  /** Aborted some seconds after `signal`: a command then drops the requests that are still under way. */
  readonly cutOff: AbortSignal;
}

/** 0 done or no change, 1 error, 2 `plan` found changes, 3 `serve` lost its lease to another process. */
export type ExitCode = 0 | 1 | 2 | 3;
