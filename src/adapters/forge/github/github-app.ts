import { createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { InputError } from '../../../core/errors.ts';
import { forgeRequest } from '../request/forge-request.ts';

export interface GitHubAppOptions {
  readonly appId: string;
  readonly installationId: string;
  /** PEM of the app's private key; asked for at every renewal. */
  readonly privateKey: () => Promise<string>;
  /** `https://api.github.com`, or `https://HOST/api/v3` of a server of one's own. */
  readonly apiUrl?: string | undefined;
  readonly nowMs: () => number;
}

/** Ask for the next token this long before the present one ends. */
const RENEW_BEFORE_MS = 5 * 60_000;

/** Installation tokens of a GitHub App, each for an hour: for Git over https and for commit statuses. */
export class GitHubApp {
  readonly #options: GitHubAppOptions;
  #token: { readonly value: string; readonly expiresAtMs: number } | undefined;

  constructor(options: GitHubAppOptions) {
    this.#options = options;
  }

  /** A token that is good for at least five minutes. */
  async token(): Promise<string> {
    const { nowMs } = this.#options;
    if (this.#token === undefined || this.#token.expiresAtMs - nowMs() < RENEW_BEFORE_MS)
      this.#token = await this.#request();
    return this.#token.value;
  }

  /** For the `provider` kind of Git credentials. */
  async credentials() {
    return { type: 'password', username: 'x-access-token', password: await this.token() } as const;
  }

  /**
   * The token was refused: it was revoked, is older than a change of the app's rights, or expired by another clock
   * than ours.
   */
  forget(): void {
    this.#token = undefined;
  }

  /** The account that the app writes comments as: `NAME[bot]`. */
  async account(): Promise<string> {
    const { apiUrl = 'https://api.github.com', appId } = this.#options;
    const subject = `GitHub App ${appId}`;
    const headers = { authorization: `Bearer ${await this.#jwt()}`, accept: 'application/vnd.github+json' };
    const answered = await forgeRequest({ url: `${apiUrl}/app`, method: 'GET', headers, subject });
    const { slug } = answered as { slug?: unknown };
    if (typeof slug === 'string') return `${slug}[bot]`;
    throw new InputError('the answer holds no name of the app', { code: 'scm.answer', subject });
  }

  async #request() {
    const { apiUrl = 'https://api.github.com', installationId } = this.#options;
    const subject = `GitHub App installation ${installationId}`;
    const answered = await forgeRequest({
      url: `${apiUrl}/app/installations/${encodeURIComponent(installationId)}/access_tokens`,
      method: 'POST',
      headers: { authorization: `Bearer ${await this.#jwt()}`, accept: 'application/vnd.github+json' },
      subject,
    });
    const { token, expires_at: expiresAt } = answered as { token?: unknown; expires_at?: unknown };
    const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.NaN;
    if (typeof token !== 'string' || Number.isNaN(expiresAtMs))
      throw new InputError('the answer holds no token', { code: 'scm.answer', subject });
    return { value: token, expiresAtMs };
  }

  async #jwt(): Promise<string> {
    const { appId, privateKey, nowMs } = this.#options;
    const seconds = Math.floor(nowMs() / 1000);
    const key = readKey(await privateKey(), `GitHub App ${appId}`);
    // A minute back: GitHub refuses tokens from the future, and clocks differ.
    return new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(appId)
      .setIssuedAt(seconds - 60)
      .setExpirationTime(seconds + 540)
      .sign(key);
  }
}

function readKey(pem: string, subject: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new InputError('its private key cannot be read, expected PEM', {
      code: 'git.credentials',
      subject,
      cause,
    });
  }
}
