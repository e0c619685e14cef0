import type { ForgeProvider } from '../../../src/request/forge-repository.ts';
import type { ForgeResponse } from '../forge-server.ts';
import { type Asked, created, MISSING, ok } from './fake-forge.ts';

/** A webhook as it was sent, with the id that the forge gave it. */
export interface FakeHook {
  readonly id: string;
  body: Readonly<Record<string, unknown>>;
}

/** What an administrator sets up at a fake. */
export class FakeSetup {
  readonly hooks: FakeHook[] = [];
  /** Names of accounts. */
  readonly accounts = new Set<string>();
  /** What the tokens were issued for, as they were asked for. */
  readonly issued: Readonly<Record<string, unknown>>[] = [];
  /** Of the token that is used. Undefined: the forge does not say. */
  scopes: string | undefined;
  /** The answer of the address to the last delivery. */
  lastDelivery: number | undefined;
  #nextId = 1;

  /** Undefined: the request is about something else. */
  answer(provider: ForgeProvider, asked: Asked, isBasic: boolean): ForgeResponse | undefined {
    return this.#answerHooks(HOOKS[provider], asked) ?? this.#answerRest(provider, asked, isBasic);
  }

  #answerHooks(wire: HookWire, { method, path, body }: Asked): ForgeResponse | undefined {
    const [, id, rest] = wire.path.exec(path) ?? [undefined, '', 'none'];
    if (rest === 'none') return undefined;
    if (rest !== undefined) return this.#lastDelivery(wire);
    if (id === undefined && method === 'GET')
      return ok(wire.wrap(this.hooks.map((hook) => wire.show(hook, this))));
    if (id === undefined && method === 'POST') {
      const hook = { id: wire.braces === true ? `{${this.#nextId++}}` : String(this.#nextId++), body };
      this.hooks.push(hook);
      return (wire.made ?? created)(wire.show(hook, this));
    }
    const hook = this.hooks.find((one) => one.id === id);
    if (hook === undefined || method !== wire.change) return MISSING;
    hook.body = body;
    return ok(wire.show(hook, this));
  }

  #lastDelivery({ latest }: HookWire): ForgeResponse {
    return latest === undefined || this.lastDelivery === undefined ? MISSING : ok(latest(this.lastDelivery));
  }

  #answerRest(provider: ForgeProvider, asked: Asked, isBasic: boolean): ForgeResponse | undefined {
    const { method, path, body } = asked;
    const headers = this.scopes === undefined ? {} : { 'x-oauth-scopes': this.scopes };
    const issue = (field: string): ForgeResponse => {
      this.issued.push(body);
      return (method === 'PUT' ? ok : created)({ [field]: `issued-${this.issued.length}` });
    };
    const [, user] = /^\/users\/([^/]+)$/.exec(path) ?? [];
    switch (true) {
      case provider === 'gitea' && user !== undefined:
        return this.accounts.has(user) ? ok({ login: user }) : MISSING;
      case provider === 'gitea' && path === '/admin/users':
        this.accounts.add(String(body.username));
        return created({ login: body.username });
      case provider === 'gitea' && path.endsWith('/tokens'):
        return isBasic ? issue('sha1') : { status: 401, body: { message: 'auth required' } };
      case path.startsWith('/repos/team/fleet/collaborators/') && method === 'PUT':
        this.accounts.add(`${path.split('/').at(-1)}: ${String(body.permission)}`);
        return { status: 204 };
      case provider === 'github' && path === '/repos/team/fleet':
        return { ...ok({ default_branch: 'main' }), headers };
      case provider === 'bitbucket' && path === '/repositories/team/fleet':
        return { ...ok({ mainbranch: { name: 'main' } }), headers };
      case path === '/personal_access_tokens/self':
        return this.scopes === undefined ? MISSING : ok({ scopes: this.scopes.split(', ') });
      case path.endsWith('/access_tokens') && method === 'POST':
        return issue('token');
      case path === '/rest/access-tokens/latest/projects/TEAM/repos/fleet':
        return issue('token');
      default:
        return undefined;
    }
  }
}

interface HookWire {
  /** Matches the id, and the rest of the path after it. */
  readonly path: RegExp;
  readonly change: 'PATCH' | 'PUT';
  readonly braces?: true;
  /** How a new one is answered, where that is not 201. */
  readonly made?: typeof ok;
  /** As it is listed: without its secret. */
  readonly show: (hook: FakeHook, setup: FakeSetup) => object;
  readonly wrap: (list: readonly object[]) => unknown;
  /** The last delivery, where it has an address of its own. */
  readonly latest?: (status: number) => unknown;
}

const plain = (list: readonly object[]): unknown => list;
const values = (list: readonly object[]): unknown => ({ values: list });

function githubLike({ id, body }: FakeHook): object {
  const { secret: _, ...config } = body.config as Record<string, unknown>;
  const events = (body.events as string[]).map((name) => name.replace('pull_request_only', 'pull_request'));
  return { id: Number(id), active: body.active, events, config };
}

const HOOKS: Readonly<Record<ForgeProvider, HookWire>> = {
  gitea: {
    ...{ path: /^\/repos\/team\/fleet\/hooks(?:\/(\d+)(\/.*)?)?$/, change: 'PATCH', wrap: plain },
    show: githubLike,
  },
  github: {
    ...{ path: /^\/repos\/team\/fleet\/hooks(?:\/(\d+)(\/.*)?)?$/, change: 'PATCH', wrap: plain },
    show: (hook, { lastDelivery }) => ({
      ...githubLike(hook),
      last_response: { code: lastDelivery ?? null, status: 'x' },
    }),
  },
  gitlab: {
    ...{ path: /^\/projects\/platform\/team\/fleet\/hooks(?:\/(\d+)(\/.*)?)?$/, change: 'PUT', wrap: plain },
    show: ({ id, body: { token: _, ...rest } }) => ({ id: Number(id), alert_status: 'executable', ...rest }),
    latest: (status) => [{ id: 1, trigger: 'push', response_status: String(status) }],
  },
  bitbucket: {
    ...{ path: /^\/repositories\/team\/fleet\/hooks(?:\/([^/]+)(\/.*)?)?$/, change: 'PUT', wrap: values },
    braces: true,
    show: ({ id, body: { secret: _, ...rest } }) => ({ uuid: id, secret_set: true, ...rest }),
  },
  'bitbucket-data-center': {
    ...{ path: /^\/projects\/TEAM\/repos\/fleet\/webhooks(?:\/(\d+)(\/.*)?)?$/, change: 'PUT', wrap: values },
    made: ok,
    show: ({ id, body }) => ({ id: Number(id), ...body }),
    latest: (status) => ({ result: { outcome: status === 200 ? 'SUCCESS' : 'FAILURE' } }),
  },
  'azure-devops': {
    ...{ path: /^\/org\/_apis\/hooks\/subscriptions(?:\/(\d+)(\/.*)?)?$/, change: 'PUT', made: ok },
    wrap: (list) => ({ count: list.length, value: list }),
    show: ({ id, body }) => ({
      ...{ id, status: 'enabled', eventType: body.eventType, publisherInputs: body.publisherInputs },
      consumerInputs: { ...(body.consumerInputs as object), basicAuthPassword: '********' },
    }),
  },
};
