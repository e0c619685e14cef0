import type { ForgeApi } from './forge-api.ts';

/** Returns the account of a token if it is known without a request; undefined: a request is needed. */
export type NamedAccount = () => Promise<string | undefined>;

/** The account that comments are written as. It is requested once, and then cached. */
export class OwnAccount {
  readonly #api: ForgeApi;
  readonly #named: NamedAccount | undefined;
  readonly #request: (signal: AbortSignal) => Promise<string | null | undefined>;
  #account: string | undefined;

  constructor(
    api: ForgeApi,
    named: NamedAccount | undefined,
    request: (signal: AbortSignal) => Promise<string | null | undefined>,
  ) {
    this.#api = api;
    this.#named = named;
    this.#request = request;
  }

  /** For a forge that names the account only in what it wrote. */
  learn(account: string | undefined): void {
    this.#account ??= account;
  }

  async get(signal: AbortSignal): Promise<string> {
    this.#account ??= (await this.#named?.()) ?? (await this.#request(signal)) ?? undefined;
    if (this.#account !== undefined && this.#account !== '') return this.#account;
    throw this.#api.badResponse('did not name the account of the token');
  }
}
