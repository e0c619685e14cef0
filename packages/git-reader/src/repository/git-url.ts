import path from 'node:path';
import { InputError } from '@berth/runtime/errors';

export type GitTransport = 'file' | 'http' | 'https' | 'ssh';

/** The checked address of a remote. `text` is the address as it is passed to git. */
export interface GitUrl {
  readonly text: string;
  readonly transport: GitTransport;
  /** Host name or address, an IPv6 address in brackets; '' for local paths. */
  readonly host: string;
}

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])$/;
/** `helper::address`, which makes git run the program `git-remote-helper`. Source: gitremote-helpers(7). */
const REMOTE_HELPER = /^[^:/@[\]]*::/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
/** `user@host:path`, the short form of ssh. */
const SCP_LIKE = /^(?:([^@/:]+)@)?(\[[^\]@/]+\]|[^@/:]+):(?!\/\/)(.+)$/;

/**
 * Accepts https, http, ssh, `user@host:path`, file URLs and absolute paths; refuses a text that git
 * could read as an option (a leading dash) or as a remote helper (`ext::…`), and a URL with
 * credentials.
 * @throws InputError `git.bad-url`
 */
export function parseGitUrl(text: string): GitUrl {
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text))
    throw badUrl(text, 'it is empty or contains control characters');
  if (text.startsWith('-')) throw badUrl(text, 'it starts with a dash');
  if (REMOTE_HELPER.test(text))
    throw badUrl(text, 'it names a remote helper (helper::address), which is not supported');
  if (path.isAbsolute(text)) return { text, transport: 'file', host: '' };
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text)) return parseSchemeUrl(text);
  const scp = SCP_LIKE.exec(text);
  if (scp === null)
    throw badUrl(text, 'expected https://…, ssh://…, user@host:path, file:///… or an absolute path');
  const [, user, host = '', repositoryPath = ''] = scp;
  if (repositoryPath.startsWith('-') || repositoryPath.includes('\\'))
    throw badUrl(text, 'the path starts with a dash or contains a backslash');
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
          'it contains credentials',
          'set them in the source, from a file or a Secret',
        );
      return { text, transport: url.protocol === 'https:' ? 'https' : 'http', host: url.hostname };
    case 'ssh:':
      if (url.password !== '') throw badUrl(redacted(url), 'it contains a password');
      checkSshAddress(text, url.username === '' ? undefined : url.username, url.hostname);
      return { text, transport: 'ssh', host: url.hostname };
    case 'file:':
      if (url.host !== '' && url.host !== 'localhost') throw badUrl(text, 'a file URL must not name a host');
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
