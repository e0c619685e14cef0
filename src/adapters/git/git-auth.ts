import { readFile } from 'node:fs/promises';
import { InputError, errorText } from '../../core/errors.ts';
import { isLoopback } from './git-url.ts';
import type { GitUrl } from './git-url.ts';

/** How to get at a remote. Files are read for every fetch, so that a rotated secret counts at once. */
export type GitAuth =
  | { readonly type: 'none' }
  /** A token over https; `username` for forges that want a certain one (GitLab: oauth2). */
  | { readonly type: 'token'; readonly file: string; readonly username?: string | undefined }
  | { readonly type: 'basic'; readonly username: string; readonly passwordFile: string }
  | { readonly type: 'ssh'; readonly keyFile: string; readonly knownHostsFile: string }
  /** Short-lived credentials from elsewhere: a GitHub App, a Kubernetes Secret. */
  | { readonly type: 'provider'; readonly get: () => Promise<HttpCredentials> };

export interface HttpCredentials {
  readonly username: string;
  readonly password: string;
}

export const NO_AUTH: GitAuth = { type: 'none' };

/** Name that forges accept beside a token. */
const TOKEN_USERNAME = 'x-access-token';

/** Refuses combinations that cannot work or that would send a secret in the clear. InputError `git.auth-mismatch`. */
export function checkAuthFits(url: GitUrl, auth: GitAuth): void {
  const mismatch = (problem: string): InputError =>
    new InputError(problem, { code: 'git.auth-mismatch', subject: `Git URL ${url.text}` });
  if (auth.type === 'none') return;
  if (auth.type === 'ssh') {
    if (url.transport !== 'ssh') throw mismatch(`got an ssh key for ${url.transport}, expected an ssh URL`);
    return;
  }
  if (url.transport === 'http' && !isLoopback(url.host))
    throw mismatch('credentials over plain http could be read on the way, expected https');
  if (url.transport !== 'https' && url.transport !== 'http')
    throw mismatch(`got a ${auth.type} for ${url.transport}, expected an https URL`);
}

/** User name and password for http(s); undefined when there are none. */
export async function httpCredentials(auth: GitAuth): Promise<HttpCredentials | undefined> {
  switch (auth.type) {
    case 'none':
    case 'ssh':
      return undefined;
    case 'token':
      return { username: auth.username ?? TOKEN_USERNAME, password: await readSecret(auth.file) };
    case 'basic':
      return { username: auth.username, password: await readSecret(auth.passwordFile) };
    case 'provider':
      return auth.get();
  }
}

export function basicAuthorization({ username, password }: HttpCredentials): string {
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
