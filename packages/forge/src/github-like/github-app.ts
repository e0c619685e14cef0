import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { InputError } from '@berth/runtime/errors';
import { forgeRequest } from '../request/forge-request.ts';

export interface GitHubAppOptions {
  readonly appId: string;
  readonly installationId: string;
  /** PEM of the app's private key. Called at every renewal. */
  readonly privateKey: () => Promise<string>;
  /** `https://api.github.com`, or `https://HOST/api/v3` for a self-hosted server. */
  readonly apiUrl?: string | undefined;
  readonly nowMs: () => number;
}

/** The next token is requested this long before the current one expires. */
const RENEW_BEFORE_MS = 5 * 60_000;

/** Installation tokens of a GitHub App, for Git over https and for commit statuses. Each is valid for an hour. */
export class GitHubApp {
  readonly #options: GitHubAppOptions;
  #token: { readonly value: string; readonly expiresAtMs: number } | undefined;

  constructor(options: GitHubAppOptions) {
    this.#options = options;
  }

  /** A token that is valid for at least five minutes. */
  async token(): Promise<string> {
    const { nowMs } = this.#options;
    if (this.#token === undefined || this.#token.expiresAtMs - nowMs() < RENEW_BEFORE_MS)
      this.#token = await this.#request();
    return this.#token.value;
  }

  /** Credentials of the `provider` kind for Git. */
  async credentials() {
    return { type: 'password', username: 'x-access-token', password: await this.token() } as const;
  }

  /**
   * The token was refused: it was revoked, is older than a change of the app's rights, or has expired by a clock that
   * differs from ours.
   */
  forget(): void {
    this.#token = undefined;
  }

  /** The account that the app writes comments as: `NAME[bot]`. */
  async account(): Promise<string> {
    const { apiUrl = 'https://api.github.com', appId } = this.#options;
    const subject = `GitHub App ${appId}`;
    const headers = { authorization: `Bearer ${await this.#jwt()}`, accept: 'application/vnd.github+json' };
    const response = await forgeRequest({ url: `${apiUrl}/app`, method: 'GET', headers, subject });
    const { slug } = response as { slug?: unknown };
    if (typeof slug === 'string') return `${slug}[bot]`;
    throw new InputError('the response does not contain the name of the app', {
      code: 'scm.answer',
      subject,
    });
  }

  async #request() {
    const { apiUrl = 'https://api.github.com', installationId } = this.#options;
    const subject = `GitHub App installation ${installationId}`;
    const response = await forgeRequest({
      url: `${apiUrl}/app/installations/${encodeURIComponent(installationId)}/access_tokens`,
      method: 'POST',
      headers: { authorization: `Bearer ${await this.#jwt()}`, accept: 'application/vnd.github+json' },
      subject,
    });
    const { token, expires_at: expiresAt } = response as { token?: unknown; expires_at?: unknown };
    const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.NaN;
    if (typeof token !== 'string' || Number.isNaN(expiresAtMs))
      throw new InputError('the response does not contain a token', { code: 'scm.answer', subject });
    return { value: token, expiresAtMs };
  }

  async #jwt(): Promise<string> {
    const { appId, privateKey, nowMs } = this.#options;
    const seconds = Math.floor(nowMs() / 1000);
    const key = readKey(await privateKey(), `GitHub App ${appId}`);
    // One minute in the past, because clocks differ and GitHub refuses tokens from the future.
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
