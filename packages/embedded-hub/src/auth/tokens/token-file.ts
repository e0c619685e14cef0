import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { InputError } from '@berth/runtime/errors';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import { SecretFile } from '@berth/runtime/files/secret-file';
import type { UserInfo } from '../../wire/user-info.ts';
import { writePrivateFile, changeCredentials } from '../files/private-file.ts';

interface TokenEntry {
  readonly sha256: string;
  readonly name: string;
  readonly groups: readonly string[];
}

interface KnownToken {
  readonly digest: Buffer;
  readonly entry: TokenEntry;
  readonly user: UserInfo;
}

/**
 * Static bearer tokens. Only their SHA-256 is stored: a token is 256 random bits, so a slow hash
 * would add nothing. Hashes are compared in constant time. Other processes add and revoke tokens
 * (`berth hub kubeconfig`, `berth hub revoke`): `check` reads the file again. While it is missing
 * or broken, no token is valid.
 */
export class TokenFile {
  readonly #path: string;
  readonly #file: SecretFile<readonly KnownToken[]>;

  /** @throws InputError when the file exists but is not a token file of the hub, or is broken */
  constructor(path: string, log: Logger = SILENT_LOG) {
    this.#path = path;
    this.#file = new SecretFile({
      file: path,
      what: 'tokens of the hub',
      without: 'no static token is valid',
      parse: parseTokens(path),
      log,
    });
    this.#file.valueOrMissing();
  }

  /** Makes a token for a user; its text exists only in the returned value. */
  issue(user: UserInfo): string {
    const token = randomBytes(32).toString('base64url');
    const entry = { sha256: hash('sha256', token, 'hex'), name: user.name, groups: user.groups };
    this.#change((entries) => [...entries, entry]);
    return token;
  }

  /**
   * Revokes all tokens of a user.
   * @returns their number
   */
  revoke(userName: string): number {
    return this.#change((entries) => entries.filter(({ name }) => name !== userName)).length;
  }

  /**
   * Revokes one token.
   * @returns its user; undefined if the token is unknown
   */
  revokeToken(token: string): UserInfo | undefined {
    const found = this.find(token);
    const sha256 = hash('sha256', token, 'hex');
    if (found !== undefined) this.#change((entries) => entries.filter((entry) => entry.sha256 !== sha256));
    return found;
  }

  /** Increases with every change of the tokens. */
  get revision(): number {
    return this.#file.revision;
  }

  /** Reads the file again. */
  check(): void {
    this.#file.check();
  }

  find(token: string): UserInfo | undefined {
    const known = this.#match(token);
    if (known !== undefined) return known;
    // A new token is valid immediately.
    return this.#file.checkIfTouched() ? this.#match(token) : undefined;
  }

  #match(token: string): UserInfo | undefined {
    const given = hash('sha256', token, 'buffer');
    const [known] = (this.#file.value ?? []).filter(({ digest }) => timingSafeEqual(digest, given));
    return known?.user;
  }

  /**
   * @returns the removed entries
   * @throws InputError if the file cannot be read, which is then not overwritten
   */
  #change(change: (entries: readonly TokenEntry[]) => readonly TokenEntry[]): readonly TokenEntry[] {
    return changeCredentials(this.#path, () => {
      this.#file.accept();
      const before = (this.#file.valueOrMissing() ?? []).map(({ entry }) => entry);
      const tokens = change(before);
      writePrivateFile(this.#path, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`);
      this.#file.accept();
      return before.filter((entry) => !tokens.includes(entry));
    });
  }
}

function parseTokens(path: string): (text: string) => readonly KnownToken[] {
  return (text) =>
    parseEntries(path, text).map((entry) => ({
      digest: Buffer.from(entry.sha256, 'hex'),
      entry,
      user: { name: entry.name, groups: entry.groups },
    }));
}

function parseEntries(path: string, text: string): readonly TokenEntry[] {
  const broken = (cause?: unknown): InputError =>
    new InputError('is not a token file of berth hub', {
      code: 'hub.token-file',
      subject: path,
      hint: 'Remove it to start without tokens; the admin kubeconfig gets a new one at the next start.',
      cause,
    });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw broken(error);
  }
  const tokens = (content as { tokens?: unknown } | null)?.tokens;
  if (!Array.isArray(tokens) || !tokens.every(isEntry)) throw broken();
  return tokens;
}

function isEntry(value: unknown): value is TokenEntry {
  const { sha256, name, groups } = (value ?? {}) as Partial<TokenEntry>;
  const areTexts = Array.isArray(groups) && groups.every((group) => typeof group === 'string');
  return /^[0-9a-f]{64}$/.test(String(sha256)) && typeof name === 'string' && areTexts;
}
