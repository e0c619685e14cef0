import { InputError, TransientError } from '../../../core/errors.ts';
import { AnswerFields } from './answer-fields.ts';
import type { ForgeDialect } from './forge-dialect.ts';
import type { ForgeRepository } from './forge-repository.ts';
import { type ForgeAnswer, forgeAnswer, type ForgeRequest } from './forge-request.ts';

/** One request to a forge. `path` begins with a slash. */
export interface ApiRequest {
  readonly method: ForgeRequest['method'];
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  /** Another base than that of the repository's API. */
  readonly apiUrl?: string | undefined;
}

/** A page of a list, and the path of the one after it. */
export interface Page {
  readonly items: readonly AnswerFields[];
  readonly next: string | undefined;
}

/** A forge that answers with full pages without end is stopped here. */
const MAX_PAGES = 100;

/** The API of a repository's forge: how a request is signed, what happens to a refused token, how pages are read. */
export class ForgeApi {
  readonly #repository: ForgeRepository;
  readonly #dialect: Pick<ForgeDialect, 'authorization'>;

  constructor(repository: ForgeRepository, dialect: Pick<ForgeDialect, 'authorization'>) {
    this.#repository = repository;
    this.#dialect = dialect;
  }

  /** What failures are about. */
  get subject(): string {
    return `Pull requests of ${this.#repository.repository}`;
  }

  /** @throws as forgeAnswer does */
  async ask(signal: AbortSignal, method: ApiRequest['method'], path: string, body?: unknown) {
    return (await this.answer(signal, { method, path, body })).fields;
  }

  /** With the headers of the answer. @throws as forgeAnswer does */
  async answer(
    signal: AbortSignal,
    { method, path, body, contentType, apiUrl = this.#repository.apiUrl }: ApiRequest,
  ): Promise<{ readonly fields: AnswerFields } & Pick<ForgeAnswer, 'headers'>> {
    const { token } = this.#repository;
    const { value, headers } = await this.#renewing(async () =>
      forgeAnswer({
        method,
        url: `${apiUrl.replace(/\/+$/, '')}${path}`,
        headers: {
          authorization: this.#dialect.authorization(await token()),
          accept: 'application/json',
          ...(contentType !== undefined && { 'content-type': contentType }),
        },
        subject: this.subject,
        signal,
        ...(body !== undefined && { body }),
      }),
    );
    return { fields: new AnswerFields(value), headers };
  }

  /** All items of a list that comes in pages, each once by its `id`. */
  async pages(
    signal: AbortSignal,
    first: string,
    read: (answer: AnswerFields, path: string) => Page,
  ): Promise<readonly AnswerFields[]> {
    const all = new Map<unknown, AnswerFields>();
    let path: string | undefined = first;
    for (let page = 1; page <= MAX_PAGES && path !== undefined; page++) {
      const { items, next }: Page = read(await this.ask(signal, 'GET', path), path);
      const known = all.size;
      for (const item of items) all.set(item.at('id') ?? item.at('pullRequestId'), item);
      // Some give the same page again for a page that is not there.
      if (items.length === 0 || all.size === known) break;
      path = next;
    }
    return [...all.values()];
  }

  /** Pages that are counted from 1. @param size name of the query parameter with the size of a page, and the largest one */
  numberedPages(
    signal: AbortSignal,
    path: string,
    [parameter, most]: readonly [parameter: string, most: number],
  ): Promise<readonly AnswerFields[]> {
    let page = 1;
    const start = `${path}${path.includes('?') ? '&' : '?'}${parameter}=${most}&page=`;
    return this.pages(signal, `${start}${page}`, (answer) => ({
      items: answer.list(this.subject),
      next: `${start}${++page}`,
    }));
  }

  /** An answer that makes no sense. */
  strange(problem: string): TransientError {
    return new TransientError(`the forge ${problem}`, { code: 'scm.answer', subject: this.subject });
  }

  /** A token that is renewed may have been revoked, or have ended by another clock: asks a second time with a new one. */
  async #renewing<T>(ask: () => Promise<T>): Promise<T> {
    const { refused } = this.#repository;
    try {
      return await ask();
    } catch (error) {
      if (refused === undefined || !(error instanceof InputError) || error.code !== 'scm.auth') throw error;
      refused();
      return ask();
    }
  }
}

/** Undefined for what the forge does not have. */
export async function undefinedIfNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof InputError && error.code === 'scm.not-found') return undefined;
    throw error;
  }
}
