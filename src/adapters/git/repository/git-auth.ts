import { readFile } from 'node:fs/promises';
import { InputError, errorText } from '../../../core/errors.ts';
import type { BerthError } from '../../../core/errors.ts';
import { isLoopback } from './git-url.ts';
import type { GitUrl } from './git-url.ts';

/** How to get at a remote. Files are read for every fetch, so that a rotated secret counts at once. */
export type GitAuth =
  | { readonly type: 'none' }
  /** A token over https; `username` for forges that want a certain one (GitLab: oauth2). */
  | { readonly type: 'token'; readonly file: string; readonly username?: string | undefined }
  | { readonly type: 'basic'; readonly username: string; readonly passwordFile: string }
  | SshAuth
  /** Credentials from elsewhere, asked for before every fetch: a GitHub App, a Kubernetes Secret. */
  | {
      readonly type: 'provider';
      readonly get: () => Promise<ProvidedAuth>;
      /** The remote did not take what was given last: it is not to be given again from memory. */
      readonly refused?: (() => void) | undefined;
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

/** What one fetch goes with. */
export interface Authorization {
  /** Value of the `Authorization` header for http(s). */
  readonly header?: string | undefined;
  readonly ssh?: SshAuth | undefined;
}

export const NO_AUTH: GitAuth = { type: 'none' };

/** Name that forges accept beside a token. */
const TOKEN_USERNAME = 'x-access-token';

/** Refuses combinations that cannot work or that would send a secret in the clear. InputError `git.auth-mismatch`. */
export function checkAuthFits(url: GitUrl, auth: GitAuth | ProvidedAuth): void {
  const mismatch = (problem: string): InputError =>
    new InputError(problem, { code: 'git.auth-mismatch', subject: `Git URL ${url.text}` });
  // A provider may turn out to give an ssh key: it is checked when it has answered.
  if (auth.type === 'none' || auth.type === 'provider') return;
  if (auth.type === 'ssh') {
    if (url.transport !== 'ssh') throw mismatch(`got an ssh key for ${url.transport}, expected an ssh URL`);
    return;
  }
  if (url.transport === 'http' && !isLoopback(url.host))
    throw mismatch('credentials over plain http could be read on the way, expected https');
  if (url.transport !== 'https' && url.transport !== 'http')
    throw mismatch(`got a ${auth.type} for ${url.transport}, expected an https URL`);
}

/** Reads the credentials for one fetch. InputError when they cannot be read or do not fit the URL. */
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
      // Only now is it known what they are.
      checkAuthFits(url, provided);
      if (provided.type === 'none') return {};
      if (provided.type === 'ssh') return { ssh: provided };
      if (provided.type === 'bearer') return { header: `Bearer ${provided.token}` };
      return { header: basic(provided.username, provided.password) };
    }
  }
}

/** Forges say of a repository that a token may not see that it is not there. */
export function tellRefused(failure: BerthError, auth: GitAuth | undefined): void {
  const isRefusal = failure.code === 'git.auth' || failure.code === 'git.repository-not-found';
  if (isRefusal && auth?.type === 'provider') auth.refused?.();
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
