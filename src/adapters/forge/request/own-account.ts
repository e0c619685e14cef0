import type { ForgeApi } from './forge-api.ts';

/** The account that a token is of, where it is known without asking with the token; undefined: ask. */
export type NamedAccount = () => Promise<string | undefined>;

/** The account that comments are written as; asked for once. */
export class OwnAccount {
  readonly #api: ForgeApi;
  readonly #named: NamedAccount | undefined;
  readonly #ask: (signal: AbortSignal) => Promise<string | null | undefined>;
  #known: string | undefined;

  constructor(
    api: ForgeApi,
    named: NamedAccount | undefined,
    ask: (signal: AbortSignal) => Promise<string | null | undefined>,
  ) {
    this.#api = api;
    this.#named = named;
    this.#ask = ask;
  }

  async get(signal: AbortSignal): Promise<string> {
    this.#known ??= (await this.#named?.()) ?? (await this.#ask(signal)) ?? undefined;
    if (this.#known !== undefined && this.#known !== '') return this.#known;
    throw this.#api.strange('did not name the account of the token');
  }
}
