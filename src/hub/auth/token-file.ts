import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { InputError } from '../../core/errors.ts';
import type { UserInfo } from '../write/write-request.ts';
import { writePrivateFile } from './private-file.ts';

interface TokenEntry {
  readonly sha256: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/**
 * Static bearer tokens. Only their SHA-256 is stored: a token is 256 random bits, so a slow hash would add nothing. The
 * comparison takes the same time wherever two hashes begin to differ. Another process may add tokens (`berth hub
 * kubeconfig`): the file is read again when it changed.
 */
export class TokenFile {
  readonly #path: string;
  #entries: readonly TokenEntry[] = [];
  #known: readonly { readonly digest: Buffer; readonly user: UserInfo }[] = [];
  #modifiedMs = -1;
  #revision = 0;

  /** @throws InputError when the file is not ours or broken */
  constructor(path: string) {
    this.#path = path;
    this.#refresh();
  }

  /** Makes a token for a user; its text exists only in the returned value. */
  issue(user: UserInfo): string {
    this.#refresh();
    const token = randomBytes(32).toString('base64url');
    this.#write([...this.#entries, { sha256: hashOf(token), name: user.name, groups: user.groups }]);
    return token;
  }

  /** Forgets all tokens of a user. */
  revoke(userName: string): void {
    this.#refresh();
    this.#write(this.#entries.filter((entry) => entry.name !== userName));
  }

  /** Grows whenever the tokens change. */
  get revision(): number {
    return this.#revision;
  }

  find(token: string): UserInfo | undefined {
    const known = this.#match(token);
    if (known !== undefined) return known;
    return this.#refresh() ? this.#match(token) : undefined;
  }

  #match(token: string): UserInfo | undefined {
    const given = hash('sha256', token, 'buffer');
    const [known] = this.#known.filter(({ digest }) => timingSafeEqual(digest, given));
    return known?.user;
  }

  #refresh(): boolean {
    const modifiedMs = existsSync(this.#path) ? statSync(this.#path).mtimeMs : 0;
    if (modifiedMs === this.#modifiedMs) return false;
    this.#modifiedMs = modifiedMs;
    this.#use(modifiedMs === 0 ? [] : parseEntries(this.#path));
    return true;
  }

  #write(entries: readonly TokenEntry[]): void {
    writePrivateFile(this.#path, `${JSON.stringify({ version: 1, tokens: entries }, null, 2)}\n`);
    this.#refresh();
    this.#use(entries);
  }

  #use(entries: readonly TokenEntry[]): void {
    this.#entries = entries;
    this.#revision += 1;
    this.#known = entries.map(({ sha256, name, groups }) => ({
      digest: Buffer.from(sha256, 'hex'),
      user: { name, groups },
    }));
  }
}

function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

function parseEntries(path: string): readonly TokenEntry[] {
  const broken = (cause?: unknown): InputError =>
    new InputError('is not a token file of berth hub', {
      code: 'hub.token-file',
      subject: path,
      hint: 'Remove it to start without tokens; the admin kubeconfig gets a new one at the next start.',
      cause,
    });
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw broken(error);
  }
  const tokens = (content as { tokens?: unknown } | null)?.tokens;
  if (!Array.isArray(tokens) || !tokens.every(isEntry)) throw broken();
  return tokens;
}

function isEntry(value: unknown): value is TokenEntry {
  const { sha256, name, groups } = (value ?? {}) as Partial<TokenEntry>;
  return /^[0-9a-f]{64}$/.test(String(sha256)) && typeof name === 'string' && Array.isArray(groups);
}
