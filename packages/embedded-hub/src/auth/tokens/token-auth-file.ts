import { hash } from 'node:crypto';
import type { UserInfo } from '../../wire/user-info.ts';
import { readFlagFile, wrongFile } from '../files/flag-file.ts';

const CODE = 'hub.token-auth-file';

/**
 * The tokens of `--token-auth-file`: lines of `token,user,uid` and perhaps `"group1,group2"`, read
 * once at the start. They are looked up by their hash, so that timing reveals nothing. Source:
 * apiserver pkg/authentication/token/tokenfile/tokenfile.go.
 */
export class TokenAuthFile {
  readonly #users: ReadonlyMap<string, UserInfo>;

  /** @throws InputError when the file cannot be read, or a line has fewer than three columns */
  constructor(file: string) {
    this.#users = parse(file, readFlagFile(CODE, file));
  }

  find(token: string): UserInfo | undefined {
    return this.#users.get(digest(token));
  }
}

const digest = (token: string): string => hash('sha256', token, 'hex');

function parse(file: string, text: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const columns = columnsOf(line);
    const [token = '', name = '', uid = '', groups = ''] = columns ?? [];
    if (columns === undefined || columns.length < 3)
      throw wrongFile(
        CODE,
        `${file}:${String(index + 1)}`,
        'expected token,user,uid and perhaps "group1,group2"',
      );
    // As upstream, a line without a token is ignored, and of two lines with the same token the
    // later one is used.
    if (token !== '')
      users.set(digest(token), { name, uid, groups: groups.split(',').filter((group) => group !== '') });
  }
  return users;
}

/** The columns of a line of CSV (RFC 4180); undefined when quotes do not match. */
function columnsOf(line: string): readonly string[] | undefined {
  const columns: string[] = [];
  const column = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = column.exec(line);
    if (match === null) return undefined;
    columns.push((match[1]?.replaceAll('""', '"') ?? match[2] ?? '').trim());
    if (match[3] === '') return columns;
  }
}
