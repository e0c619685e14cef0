import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { SecretFile } from '@berth/runtime/files/secret-file';
import { parseTokenFile, type TokenEntry } from './token-file.ts';
import { isPlaceholder, type TokenGrant } from './token-grant.ts';

export interface BearerTokensOptions {
  readonly file: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** The identity of a token. `placeholder`: the value that the shipped manifests ask to replace. */
export type TokenIdentity = TokenGrant | 'placeholder' | undefined;

/**
 * The tokens of a file. Several are valid at the same time, so that a token can be rotated without
 * downtime. The file is read again at most once a second: removed tokens are rejected, and all
 * tokens are while it is missing, empty or broken. Tokens are compared in constant time.
 */
export class BearerTokens {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #tokens: SecretFile<readonly TokenEntry[]>;

  /** @throws InputError when the file cannot be used at the start */
  constructor({ file, clock, log }: BearerTokensOptions) {
    this.#clock = clock;
    this.#tokens = new SecretFile({
      file,
      what: 'bearer tokens',
      without: 'no bearer token is accepted',
      parse: (text) => {
        const entries = parseTokenFile(file, text);
        reportWeakTokens(file, entries, log);
        return entries;
      },
      log,
    });
    if (this.#tokens.problem !== undefined) throw this.#tokens.problem;
  }

  identify(request: Pick<IncomingMessage, 'headersDistinct'>): TokenIdentity {
    const headers = request.headersDistinct['authorization'] ?? [];
    const [header = ''] = headers;
    const sent = /^Bearer +([^\s]+)\s*$/i.exec(header)?.[1] ?? '';
    const digest = createHash('sha256').update(sent).digest();
    let found: TokenEntry | undefined;
    // There is no early exit, so that the time does not reveal which token was nearly right.
    for (const entry of this.#tokens.current(this.#clock.now()) ?? [])
      if (timingSafeEqual(entry.digest, digest)) found = entry;
    // With two Authorization headers, a proxy may have checked the other one.
    if (headers.length !== 1) return undefined;
    if (isPlaceholder(sent)) return 'placeholder';
    return found === undefined || found.isPlaceholder ? undefined : found.grant;
  }
}

function reportWeakTokens(file: string, entries: readonly TokenEntry[], log: Logger): void {
  const placeholders = entries.filter((entry) => entry.isPlaceholder).map(({ grant }) => grant.name);
  if (placeholders.length > 0)
    log.error('the token file contains the placeholder of the shipped manifest, which is refused', {
      file,
      tokens: placeholders,
      hint: 'create a token with: openssl rand -hex 32',
    });
  const plain = entries.filter((entry) => entry.isPlain).length;
  if (plain > 0)
    log.warn('tokens without a binding may read every placement and use /api/v1', {
      file,
      tokens: plain,
      hint: 'declare them with namespaces and scopes: docs/argocd.md',
    });
}
