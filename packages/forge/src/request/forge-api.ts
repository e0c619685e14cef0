import { InputError, TransientError } from '@berth/runtime/errors';
import type { ForgeComment } from '../contract/pull-request-forge.ts';
import { ResponseFields } from './response-fields.ts';
import type { ForgeDialect } from './forge-dialect.ts';
import type { ForgeRepository } from './forge-repository.ts';
import { type ForgeResponse, forgeResponse, type ForgeRequest } from './forge-request.ts';

/** One request to a forge. `path` starts with a slash. */
export interface ApiRequest {
  readonly method: ForgeRequest['method'];
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  /** Used instead of the base of the repository's API. */
  readonly apiUrl?: string | undefined;
}

/** A page of a list, and the path of the next page. */
export interface Page {
  readonly items: readonly ResponseFields[];
  readonly next: string | undefined;
}

/** A limit for a forge that returns full pages endlessly. */
const MAX_PAGES = 100;

/** The API of a repository's forge: signs requests, replaces a refused token, and reads all pages of a list. */
export class ForgeApi {
  readonly #repository: ForgeRepository;
  readonly #dialect: Pick<ForgeDialect, 'authorization'>;

  constructor(repository: ForgeRepository, dialect: Pick<ForgeDialect, 'authorization'>) {
    this.#repository = repository;
    this.#dialect = dialect;
  }

  /** The subject of errors. */
  get subject(): string {
    return `Pull requests of ${this.#repository.repository}`;
  }

  /**
   * Sends a request, and returns the fields of the response.
   * @throws the errors of forgeResponse
   */
  async request(signal: AbortSignal, method: ApiRequest['method'], path: string, body?: unknown) {
    return (await this.requestWithHeaders(signal, { method, path, body })).fields;
  }

  /**
   * Sends a request, and returns the fields and the headers of the response.
   * @throws the errors of forgeResponse
   */
  async requestWithHeaders(
    signal: AbortSignal,
    { method, path, body, contentType, apiUrl = this.#repository.apiUrl }: ApiRequest,
  ): Promise<{ readonly fields: ResponseFields } & Pick<ForgeResponse, 'headers'>> {
    const { token } = this.#repository;
    const { value, headers } = await this.#withFreshToken(async () =>
      forgeResponse({
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
    return { fields: new ResponseFields(value), headers };
  }

  /** All items of a paginated list, without duplicates by `id`. */
  async pages(
    signal: AbortSignal,
    first: string,
    readPage: (response: ResponseFields, path: string) => Page,
  ): Promise<readonly ResponseFields[]> {
    const all = new Map<unknown, ResponseFields>();
    let path: string | undefined = first;
    for (let page = 1; page <= MAX_PAGES && path !== undefined; page++) {
      const { items, next }: Page = readPage(await this.request(signal, 'GET', path), path);
      const known = all.size;
      for (const item of items) all.set(item.at('id') ?? item.at('pullRequestId'), item);
      // Some forges return the last page again for a page that does not exist.
      if (items.length === 0 || all.size === known) break;
      path = next;
    }
    return [...all.values()];
  }

  /**
   * Pages that are numbered from 1.
   * @param size the name of the query parameter for the size of a page, and its largest value
   */
  numberedPages(
    signal: AbortSignal,
    path: string,
    [parameter, most]: readonly [parameter: string, most: number],
  ): Promise<readonly ResponseFields[]> {
    let page = 1;
    const start = `${path}${path.includes('?') ? '&' : '?'}${parameter}=${most}&page=`;
    return this.pages(signal, `${start}${page}`, (response) => ({
      items: response.list(this.subject),
      next: `${start}${++page}`,
    }));
  }

  /** The error for a response that lacks a required field or contradicts the request. */
  badResponse(problem: string): TransientError {
    return new TransientError(`the forge ${problem}`, { code: 'scm.answer', subject: this.subject });
  }

  /**
   * A renewable token may have been revoked, or have expired by a clock that differs from ours. The request is repeated
   * once with a new one.
   */
  async #withFreshToken<T>(send: () => Promise<T>): Promise<T> {
    const { onRefused } = this.#repository;
    try {
      return await send();
    } catch (error) {
      if (onRefused === undefined || !(error instanceof InputError) || error.code !== 'scm.auth') throw error;
      onRefused();
      return send();
    }
  }
}

/** The paths of a comment's fields. */
export type CommentFields = Readonly<Record<'id' | 'author' | 'text', readonly string[]>>;

/** The comments of an account that contain the marker, oldest first, each once. */
export function ownComments(
  comments: readonly ResponseFields[],
  fields: CommentFields,
  account: string | undefined,
  marker: string,
): readonly ForgeComment[] {
  const found = new Map<number, string>();
  for (const one of comments) {
    const [id, text] = [one.number(...fields.id), one.text(...fields.text) ?? ''];
    const isOurs = one.text(...fields.author) === account && text.includes(marker);
    if (id !== undefined && isOurs) found.set(id, text);
  }
  return [...found].toSorted(([x], [y]) => x - y).map(([id, text]) => ({ id: String(id), text }));
}

/** Undefined if the forge answers that the object does not exist. */
export function undefinedIfNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  return undefinedIf('scm.not-found', request);
}

/** @param code of the refusal that counts as no answer */
export async function undefinedIf<T>(code: string, request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof InputError && error.code === code) return undefined;
    throw error;
  }
}
