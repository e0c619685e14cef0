import path from 'node:path';
import { InputError } from '../../../core/errors.ts';

export type GitTransport = 'file' | 'http' | 'https' | 'ssh';

/** A remote's address that was checked; `text` is what git is given. */
export interface GitUrl {
  readonly text: string;
  readonly transport: GitTransport;
  /** Empty for local paths. */
  readonly host: string;
}

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
/** `user@host:path`, the short form of ssh. */
const SCP_LIKE = /^(?:([^@/:]+)@)?([^@/:]+):(?!\/\/)(.+)$/;

/**
 * Accepts https, http, ssh, `user@host:path`, file URLs and absolute paths; refuses whatever git could read as an option
 * or a helper program (`ext::…`, a leading dash), and credentials in the URL. InputError `git.bad-url`.
 */
export function parseGitUrl(text: string): GitUrl {
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text))
    throw badUrl(text, 'it is empty or holds control characters');
  if (text.startsWith('-')) throw badUrl(text, 'it starts with a dash');
  if (text.includes('::')) throw badUrl(text, 'remote helpers (::) are not supported');
  if (path.isAbsolute(text)) return { text, transport: 'file', host: '' };
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text)) return parseSchemeUrl(text);
  const scp = SCP_LIKE.exec(text);
  if (scp === null)
    throw badUrl(text, 'expected https://…, ssh://…, user@host:path, file:///… or an absolute path');
  const [, user, host = '', place = ''] = scp;
  if (place.startsWith('-') || place.includes('\\'))
    throw badUrl(text, 'the path starts with a dash or holds a backslash');
  checkSshAddress(text, user, host);
  return { text, transport: 'ssh', host };
}

function parseSchemeUrl(text: string): GitUrl {
  if (!URL.canParse(text)) throw badUrl(text, 'it is not a URL');
  const url = new URL(text);
  switch (url.protocol) {
    case 'https:':
    case 'http:':
      if (url.username !== '' || url.password !== '')
        throw badUrl(
          redacted(url),
          'it holds credentials',
          'give them through the source, from a file or a Secret',
        );
      return { text, transport: url.protocol === 'https:' ? 'https' : 'http', host: url.hostname };
    case 'ssh:':
      if (url.password !== '') throw badUrl(redacted(url), 'it holds a password');
      checkSshAddress(text, url.username === '' ? undefined : url.username, url.hostname);
      return { text, transport: 'ssh', host: url.hostname };
    case 'file:':
      if (url.host !== '' && url.host !== 'localhost') throw badUrl(text, 'a file URL names no host');
      return { text, transport: 'file', host: '' };
    default:
      throw badUrl(text, `got scheme ${url.protocol.slice(0, -1)}, expected https, http, ssh or file`);
  }
}

function checkSshAddress(text: string, user: string | undefined, host: string): void {
  // ssh would read a host that starts with a dash as an option.
  if (!HOST.test(host))
    throw badUrl(text, `got host ${JSON.stringify(host)}, expected a host name or address`);
  if (user !== undefined && !USER.test(user)) throw badUrl(text, `got user ${JSON.stringify(user)}`);
}

function redacted(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function badUrl(subject: string, problem: string, hint?: string): InputError {
  return new InputError(problem, {
    code: 'git.bad-url',
    subject: `Git URL ${JSON.stringify(subject)}`,
    hint,
  });
}

/** 127.0.0.0/8, ::1 and localhost: plain http there leaks nothing to a network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
