import { readFile } from 'node:fs/promises';
import { type BerthError, errorText, InputError } from '@berth/runtime/errors';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import type { GitUrl } from './git-url.ts';

/** The credentials for a remote. Files are read for every fetch, so that a rotated secret is used at once. */
export type GitAuth =
  | { readonly type: 'none' }
  /** A token for https. `username` is for forges that require a specific one (GitLab: oauth2). */
  | { readonly type: 'token'; readonly file: string; readonly username?: string | undefined }
  | { readonly type: 'basic'; readonly username: string; readonly passwordFile: string }
  | SshAuth
  /** Credentials that a function returns before every fetch: those of a GitHub App or of a Kubernetes Secret. */
  | {
      readonly type: 'provider';
      readonly get: () => Promise<ProvidedAuth>;
      /** Called when the remote refused the last credentials: `get` must not return them from a cache again. */
      readonly onRefused?: (() => void) | undefined;
    };

export interface SshAuth {
  readonly type: 'ssh';
  readonly keyFile: string;
  readonly knownHostsFile: string;
}

export type ProvidedAuth =
  | { readonly type: 'none' }
  | { readonly type: 'password'; readonly username: string; readonly password: string }
  | { readonly type: 'bearer'; readonly token: string }
  | SshAuth;

/** The credentials of one fetch, as git needs them. */
export interface Authorization {
  /** Value of the `Authorization` header for http(s). */
  readonly header?: string | undefined;
  readonly ssh?: SshAuth | undefined;
}

export const NO_AUTH: GitAuth = { type: 'none' };

/** User name that forges accept together with a token. */
const TOKEN_USERNAME = 'x-access-token';

/** @throws InputError `git.auth-mismatch` when the transport cannot use the credentials, or would send them unencrypted */
export function checkAuthMatchesUrl(url: GitUrl, auth: GitAuth | ProvidedAuth): void {
  const mismatch = (problem: string): InputError =>
    new InputError(problem, { code: 'git.auth-mismatch', subject: `Git URL ${url.text}` });
  // The credentials of a provider are checked in `authorize`, once it has returned them.
  if (auth.type === 'none' || auth.type === 'provider') return;
  if (auth.type === 'ssh') {
    if (url.transport !== 'ssh') throw mismatch(`got an ssh key for ${url.transport}, expected an ssh URL`);
    return;
  }
  if (url.transport === 'http' && !isLoopbackHost(url.host))
    throw mismatch('plain http would send the credentials unencrypted, expected https');
  if (url.transport !== 'https' && url.transport !== 'http')
    throw mismatch(`got a ${auth.type} for ${url.transport}, expected an https URL`);
}

/**
 * Reads the credentials for one fetch.
 * @throws InputError when they cannot be read, or the transport of the URL cannot use them
 */
export async function authorize(url: GitUrl, auth: GitAuth): Promise<Authorization> {
  switch (auth.type) {
    case 'none':
      return {};
    case 'ssh':
      return { ssh: auth };
    case 'token':
      return { header: basic(auth.username ?? TOKEN_USERNAME, await readSecret(auth.file)) };
    case 'basic':
      return { header: basic(auth.username, await readSecret(auth.passwordFile)) };
    case 'provider': {
      const provided = await auth.get();
      checkAuthMatchesUrl(url, provided);
      if (provided.type === 'none') return {};
      if (provided.type === 'ssh') return { ssh: provided };
      if (provided.type === 'bearer') return { header: `Bearer ${provided.token}` };
      return { header: basic(provided.username, provided.password) };
    }
  }
}

/**
 * Tells the provider when the remote refused its credentials. `git.repository-not-found` counts as a refusal, because forges answer
 * 404 for a repository that the token may not read.
 */
export function reportRefusedAuth(failure: BerthError, auth: GitAuth | undefined): void {
  const isRefusal = failure.code === 'git.auth' || failure.code === 'git.repository-not-found';
  if (isRefusal && auth?.type === 'provider') auth.onRefused?.();
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

async function readSecret(file: string): Promise<string> {
  try {
    const secret = (await readFile(file, 'utf8')).trim();
    if (secret !== '') return secret;
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'git.credentials',
      subject: `Credentials file ${file}`,
      cause,
    });
  }
  throw new InputError('is empty, expected a token or password', {
    code: 'git.credentials',
    subject: `Credentials file ${file}`,
  });
}
