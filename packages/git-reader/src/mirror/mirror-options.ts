import type { GitAuth } from '../repository/git-auth.ts';

export const DEFAULT_FETCH_TIMEOUT_MS = 10 * 60_000;

/** The remote of a mirror, and its limits. */
export interface MirrorOptions {
  readonly url: string;
  /** A directory that only Berth uses. It is created, and deleted when it cannot be used. */
  readonly mirrorDir: string;
  readonly auth?: GitAuth | undefined;
  /** PEM file of the certificate authority to trust instead of the system's. */
  readonly caFile?: string | undefined;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** A fetch is stopped after this long. Default: DEFAULT_FETCH_TIMEOUT_MS. */
  readonly fetchTimeoutMs?: number | undefined;
  /** A fetch is stopped when the mirror grows beyond this. */
  readonly maxBytes?: number | undefined;
}
