import type { ForgeApi } from './forge-api.ts';

/** Returns the account of a token if it is known without a request; undefined: a request is needed. */
export type NamedAccount = () => Promise<string | undefined>;

/** The account that comments are written as. It is requested once. */
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
