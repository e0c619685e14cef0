import type { ForgeProvider } from '../../../src/request/forge-repository.ts';
import type { RepositoryPermission } from '../../../src/contract/pull-request-forge.ts';
import { type ForgeResponse, type ForgeRequest, startForge } from '../forge-server.ts';
import { apiProblems } from '../api-description.ts';
import { FakeSetup } from './fake-setup.ts';

export interface FakePull {
  readonly number: number;
  head: string;
  readonly author?: string;
  readonly title?: string;
  readonly base?: string;
  readonly fork?: boolean;
  readonly draft?: boolean;
  state?: 'open' | 'closed';
  merged?: string;
}

export interface FakeComment {
  readonly id: number;
  readonly number: number;
  readonly author: string;
  body: string;
  folded?: boolean;
  /** Changes so far. */
  version: number;
  /** Somebody answered it. */
  answered?: boolean;
  /** As the forge names them. */
  readonly reactions: Set<string>;
}

export interface FakeStatus {
  readonly commit: string;
  readonly context: string;
  /** In our words. */
  readonly state: string;
  readonly description: string;
}

/** What a token may lack. */
export type ForgeRight = 'read' | 'comment' | 'status' | 'permissions' | 'setup';

export type PullEvent = 'opened' | 'pushed' | 'closed' | 'merged';

/** One request as a fake reads it. */
export interface Asked {
  readonly method: string;
  /** Below the API, decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The page of a pull request for people. */
export function pageOf(number: number): string {
  return `https://forge.test/team/fleet/pulls/${number}`;
}

/** A forge as its public documentation describes it, with one repository. What the forges share is here, the wire is in the others. */
export abstract class FakeForge {
  abstract readonly provider: ForgeProvider;
  /** As the API calls it. */
  abstract readonly repository: string;
  /** Where people clone it. */
  repositoryUrl = 'https://forge.example/team/fleet.git';
  readonly pulls = new Map<number, FakePull>();
  readonly comments: FakeComment[] = [];
  readonly setup = new FakeSetup();
  readonly statuses: FakeStatus[] = [];
  /** By name of the account. */
  readonly permissions = new Map<string, RepositoryPermission>();
  /** What the token may not do. */
  readonly lacks = new Set<ForgeRight>();
  /** Tokens that were good once. */
  readonly expired = new Set<string>();
  /** The account of the token. */
  account = 'berth';
  /** Answers instead of the server, for faults; undefined: the server answers. */
  fault: (request: ForgeRequest) => ForgeResponse | 'hang' | undefined = () => undefined;
  /** Answers wait for it. */
  slow: Promise<void> | undefined;
  protected nextId = 100;
  /** Of the API, on its server. */
  protected readonly basePath: string = '';
  readonly #problems = new Set<string>();
  #server: Awaited<ReturnType<typeof startForge>> | undefined;

  /** @returns the base of the API */
  async start(): Promise<string> {
    this.#server = await startForge((_count, request) => {
      const fault = this.fault(request);
      if (fault === 'hang') return undefined;
      const answered = fault ?? this.#answer(request);
      const problems = apiProblems(this.provider, request, fault === undefined ? answered : undefined);
      for (const problem of problems) this.#problems.add(problem);
      return this.slow === undefined ? answered : this.slow.then(() => answered);
    });
    return this.apiUrl;
  }

  get apiUrl(): string {
    return `${this.#server?.apiUrl ?? ''}${this.basePath}`;
  }

  get seen(): readonly ForgeRequest[] {
    return this.#server?.seen ?? [];
  }

  /** @throws when a request or an answer was not as the forge describes it */
  async close(): Promise<void> {
    await this.#server?.close();
    const problems = [...this.#problems];
    this.#problems.clear();
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  write(number: number, author: string, body: string): FakeComment {
    const comment = { id: this.nextId++, number, author, body, version: 0, reactions: new Set<string>() };
    this.comments.push(comment);
    return comment;
  }

  statusOf(commit: string, context: string): FakeStatus | undefined {
    return this.statuses.findLast((one) => one.commit === commit && one.context === context);
  }

  /** How the forge names an account. */
  accountId(name: string): string {
    return name;
  }

  /** The answer to somebody who asked too much. */
  limited(seconds: number): ForgeResponse {
    return { status: 429, headers: { 'retry-after': String(seconds) } };
  }

  /** A signed delivery of what happened to a pull request. */
  abstract pullDelivery(number: number, event: PullEvent, secret: string): RequestInit;
  /** A signed delivery of a comment. */
  abstract commentDelivery(comment: FakeComment, change: 'new' | 'edited', secret: string): RequestInit;
  protected abstract answer(asked: Asked): ForgeResponse;
  /** The right that a request takes. */
  protected abstract rightFor(asked: Asked): ForgeRight;

  protected refuseToken(): ForgeResponse {
    return { status: 401, body: { message: 'Bad credentials' } };
  }

  protected refuseRight(): ForgeResponse {
    return { status: 403, body: { message: 'Forbidden' } };
  }

  protected addStatus(status: FakeStatus): void {
    this.statuses.push(status);
  }

  protected find(id: unknown): FakeComment | undefined {
    return this.comments.find((one) => one.id === Number(id));
  }

  protected remove(comment: FakeComment): ForgeResponse {
    this.comments.splice(this.comments.indexOf(comment), 1);
    return { status: 204 };
  }

  protected edit(comment: FakeComment, body: unknown): FakeComment {
    comment.body = String(body);
    comment.version++;
    return comment;
  }

  protected get openPulls(): readonly FakePull[] {
    return [...this.pulls.values()].filter(({ state, merged }) => state !== 'closed' && merged === undefined);
  }

  #answer({ method = 'GET', url = '', authorization = '', body }: ForgeRequest): ForgeResponse {
    const { pathname, searchParams } = new URL(url, 'http://forge');
    const basic = /^Basic (.+)$/.exec(authorization)?.[1];
    const credentials = basic === undefined ? authorization : Buffer.from(basic, 'base64').toString();
    if ([...this.expired].some((token) => credentials.endsWith(token))) return this.refuseToken();
    const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
    const asked = {
      method,
      path: decodeURIComponent(pathname.replace(this.basePath, '')),
      query: searchParams,
      body: fields,
    };
    const ofSetup = this.setup.answer(this.provider, asked, basic !== undefined);
    const right = ofSetup === undefined || !isSetup(asked) ? this.rightFor(asked) : 'setup';
    return this.lacks.has(right) ? this.refuseRight() : (ofSetup ?? this.answer(asked));
  }
}

/** The repository itself is read for other reasons, too. */
function isSetup({ method, path }: Asked): boolean {
  return method !== 'GET' || /hook/.test(path);
}

export function ok(body: unknown): ForgeResponse {
  return { status: 200, body };
}

export function created(body: unknown): ForgeResponse {
  return { status: 201, body };
}

export const MISSING: ForgeResponse = { status: 404, body: { message: 'Not Found' } };

/** A page of a list that is counted from 1. */
export function numbered<T>(list: readonly T[], query: URLSearchParams, size: string): readonly T[] {
  const [page, most] = [Number(query.get('page') ?? 1), Number(query.get(size) ?? 20)];
  return list.slice((page - 1) * most, page * most);
}
