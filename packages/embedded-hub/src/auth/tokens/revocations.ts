import { InputError } from '@berth/runtime/errors';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import { SecretFile } from '@berth/runtime/files/secret-file';
import { writePrivateFile, changeCredentials } from '../files/private-file.ts';

/**
 * Users whose credentials were revoked, each with a time: client certificates and service account
 * tokens that were signed before are rejected, later ones are valid. A signature cannot be revoked
 * itself, so every request is checked against this list. While the file is missing or broken, the
 * list that was read last is used.
 */
export class Revocations {
  readonly #path: string;
  readonly #file: SecretFile<ReadonlyMap<string, number>>;
  #known: ReadonlyMap<string, number>;
  #revision = 0;

  /**
   * A missing file means that nothing was revoked.
   * @throws InputError when the file exists and is broken or not ours
   */
  constructor(path: string, log: Logger = SILENT_LOG) {
    this.#path = path;
    this.#file = new SecretFile({
      file: path,
      what: 'revocations',
      without: 'the list that was read last is used',
      parse: (text) => parse(path, text),
      log,
    });
    this.#known = this.#file.valueOrMissing() ?? new Map();
  }

  /** Increases with every change of the list. */
  get revision(): number {
    return this.#revision;
  }

  /** @param issuedAtMs when the certificate or token was signed; signatures name whole seconds */
  refuses(user: string, issuedAtMs: number): boolean {
    if (this.#known.size === 0) return false;
    const untilMs = this.#known.get(user);
    // NaN is rejected, too.
    return untilMs !== undefined && !(issuedAtMs > untilMs);
  }

  /** The moment up to which credentials of the user are refused; undefined: none are. */
  untilMs(user: string): number | undefined {
    return this.#known.get(user);
  }

  /** Refuses what was signed for the user until now. */
  add(user: string, nowMs: number): void {
    changeCredentials(this.#path, () => {
      this.#file.accept();
      const users = new Map(this.#file.valueOrMissing() ?? this.#known).set(user, nowMs);
      const revocations = [...users].map(([name, ms]) => ({ user: name, until: new Date(ms).toISOString() }));
      writePrivateFile(this.#path, `${JSON.stringify({ version: 1, revocations }, null, 2)}\n`);
      this.#file.accept();
      this.#merge();
    });
  }

  /** Reads the file again. */
  check(): void {
    if (this.#file.check()) this.#merge();
  }

  #merge(): void {
    const { value } = this.#file;
    if (value === undefined) return;
    const all = new Map(this.#known);
    // If the file is deleted, the entries in memory stay valid until the next start.
    for (const [user, untilMs] of value) all.set(user, Math.max(untilMs, all.get(user) ?? 0));
    this.#known = all;
    this.#revision += 1;
  }
}

function parse(path: string, text: string): ReadonlyMap<string, number> {
  const broken = (cause?: unknown): InputError =>
    new InputError('is not a list of revocations of berth hub', {
      code: 'hub.revocations',
      subject: path,
      hint: 'Restore it from a backup. Without it, revoked client certificates are valid again.',
      cause,
    });
  let content: { readonly revocations?: unknown } | null;
  try {
    content = JSON.parse(text) as typeof content;
  } catch (error) {
    throw broken(error);
  }
  const list = content?.revocations;
  if (!Array.isArray(list)) throw broken();
  return new Map(
    list.map((entry: unknown) => {
      const { user, until } = (entry ?? {}) as { readonly user?: unknown; readonly until?: unknown };
      const untilMs = typeof until === 'string' ? Date.parse(until) : Number.NaN;
      if (typeof user !== 'string' || Number.isNaN(untilMs)) throw broken();
      return [user, untilMs];
    }),
  );
}
