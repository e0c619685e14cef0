import type { ServerResponse } from 'node:http';
import { PLACEMENT } from '@berth/kube/model/kinds';
import type { Clock } from '@berth/runtime/clock/clock';
import { BerthError, InputError, TransientError } from '@berth/runtime/errors';
import express, { json, type Request, type Response, Router } from 'express';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import { DashboardReader } from '../../../controllers/dashboard/dashboard-reader.ts';
import { QuestionThread } from '../../../controllers/dashboard/question-thread.ts';
import { releasePlacement } from '../../../controllers/releases/release-held.ts';
import type { Sight } from '../../../core/dashboard/sight.ts';
import { ownPlacements, type ServeOptions } from '../../settings/serve-options.ts';
import type { ControllerHttpOptions, Dashboard } from '../http/controller-http-options.ts';
import { ChangeReader } from './change-reader.ts';
import { Door, refuseOtherSites } from './door.ts';
import { extensionRoutes } from './extension-routes.ts';
import { KeptJson, sendZipped, zippedJson } from './kept-json.ts';
import { PAGE_HEADERS, PageFiles } from './page-files.ts';

const MAX_LOGIN_BYTES = '8kb';

/**
 * The dashboard. Everybody gets the page, which is empty; what it shows needs a token of the hub, in a session cookie or as a
 * bearer token. `/ui/api` answers in JSON what the viewer may see, `/ui/events` says that something changed. `/argocd` is for the
 * extension of Argo CD.
 */
export function dashboardRoutes(
  parts: ControllerHttpOptions,
  tokens: Pick<BearerTokens, 'identify'>,
): Dashboard {
  const door = new Door(parts);
  const { reader, changes, questions } = readersOf(parts);
  let written = 0;
  const streams = new LiveStreams(parts.options.clock, () => reader.revision + written);
  const { inventory, previews } = parts;
  previews?.reports.written.subscribe(() => {
    written++;
    streams.changed();
  });
  const stops = [...inventory.inputs, inventory.decisions].map(({ store }) =>
    store.onChange(() => streams.changed()),
  );
  const files = new PageFiles();
  const routes = express();
  routes.disable('x-powered-by').disable('etag');
  routes.use((_request, response, next) => {
    response.set({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
    next();
  });
  for (const path of ['/', '/p/:namespace/:name', '/c/:name', '/change'])
    routes.get(path, (request, response) => files.send(undefined, request, response));
  for (const name of ['app.js', 'app.css'])
    routes.get(`/ui/${name}`, (request, response) => files.send(name, request, response));
  routes.use('/ui/session', sessionRoutes(door));
  routes.get('/ui/events', (request, response) =>
    door.admit(request, response, async ({ username }, { isStill }) => {
      if (!streams.add({ response, username, isAllowed: isStill }))
        response.status(503).json({ message: 'too many pages are open' });
    }),
  );
  routes.use('/argocd', extensionRoutes(parts, tokens, reader));
  routes.use('/ui/api', releaseRoutes(door, parts.options), apiRoutes(door, reader, changes));
  routes.use((request, response) => {
    response.status(404).json({ message: `nothing is served at ${request.method} ${request.path}` });
  });
  routes.use(failed);
  return {
    handle: (request, response) => void routes(request, response),
    close: async () => {
      for (const stop of stops) stop();
      streams.close();
      await questions.close();
    },
  };
}

function readersOf(parts: ControllerHttpOptions) {
  const { options, inventory, publishedPlacements: published, loops, previews } = parts;
  const { dataDir, clock, sources } = options;
  const decides = options.schedule === 'upstream' ? ('own' as const) : ownPlacements(options);
  const questions = new QuestionThread(clock);
  const api = options.api;
  const reader = new DashboardReader({
    ...{ api, inventory, published, decides, questions },
    ...{ historyDir: `${dataDir}/history`, timeline: parts.timeline },
  });
  const { budgetOf, hubProblem } = parts;
  const changes = new ChangeReader({
    ...{ api, clock, inventory, decides, questions, loops, sources, previews, budgetOf, hubProblem },
    revision: () => reader.revision,
  });
  return { reader, changes, questions };
}

/** `POST` logs in with `{token}`, `DELETE` logs out, `GET` says who is logged in. */
function sessionRoutes(door: Door): Router {
  const session = Router();
  session.get('/', (request, response) =>
    door.admit(request, response, async ({ username, sight }) => {
      response.json({ username, allClusters: sight.allClusters, allNamespaces: sight.namespaces === 'all' });
    }),
  );
  session.use(refuseOtherSites);
  session.post('/', express.json({ limit: MAX_LOGIN_BYTES }), async (request, response) => {
    const { token } = (request.body ?? {}) as { readonly token?: unknown };
    const given = typeof token === 'string' ? token.trim() : '';
    const viewer = /^[\x21-\x7e]+$/.test(given) ? await door.identify(given) : undefined;
    const header = viewer && door.cookie.seal(given, door.nowMs);
    if (viewer === undefined) response.status(401).json({ message: 'the hub does not know this token' });
    else if (header === undefined)
      response.status(400).json({ message: 'the token is too long for a cookie: use a shorter one' });
    else {
      door.log('logged in to the dashboard', { user: viewer.username });
      response.set('set-cookie', header).json({ username: viewer.username });
    }
  });
  session.delete('/', (_request, response) => {
    response.set('set-cookie', door.cookie.end()).status(204).end();
  });
  return session;
}

function apiRoutes(door: Door, reader: DashboardReader, changes: ChangeReader): Router {
  const api = Router();
  const kept = new KeptJson();
  // They are found in a thread of their own.
  const keptCauses = new KeptJson();
  const answer = (
    path: string,
    find: (request: Request, sight: Sight) => Promise<Buffer | undefined>,
  ): void => {
    api.get(path, (request, response) =>
      door.admit(request, response, async ({ sight }) => {
        const found = await find(request, sight);
        if (found === undefined) response.status(404).json({ message: 'there is nothing that you may see' });
        else await sendZipped(request, response, found);
      }),
    );
  };
  const shared = (
    path: string,
    find: (request: Request, sight: Sight) => unknown,
    answers: KeptJson = kept,
  ): void =>
    answer(path, (request, sight) =>
      answers.get({ path: request.path, revision: reader.revision }, sight, () => find(request, sight)),
    );
  shared('/fleet', (_request, sight) => reader.fleet(sight));
  shared('/story', async (_request, sight) => ({ steps: await reader.story(sight) }));
  shared('/placements/:namespace/:name', (request, sight) => reader.placement(refOf(request), sight));
  shared('/placements/:namespace/:name/history', (request, sight) => reader.history(refOf(request), sight));
  shared(
    '/placements/:namespace/:name/causes',
    async (request, sight) => {
      const causes = await reader.causes(refOf(request), sight);
      return causes && Object.fromEntries(causes);
    },
    keptCauses,
  );
  shared('/placements/:namespace/:name/clusters/:cluster', (request, sight) =>
    reader.pair(refOf(request), String(request.params['cluster']), sight),
  );
  shared('/clusters/:name', (request, sight) => reader.cluster(String(request.params['name']), sight));
  answer('/change', (request, sight) =>
    zippedJson(() => changes.read(new URLSearchParams(request.url.split('?')[1] ?? ''), sight)),
  );
  return api;
}

function refOf({ params }: Request): { readonly namespace: string; readonly name: string } {
  return { namespace: String(params['namespace']), name: String(params['name']) };
}

/** Messages of Berth's own errors are for the viewer; others are not. */
function failed(error: unknown, _request: Request, response: Response, next: (error: unknown) => void): void {
  if (response.headersSent) return next(error);
  const [status, message]: readonly [number, string] =
    error instanceof TransientError
      ? [503, error.message]
      : error instanceof InputError && error.code.startsWith('kube.')
        ? [
            503,
            `Berth may not ask the hub this: ${error.message}. berth serve --print-rbac prints its rights`,
          ]
        : error instanceof BerthError
          ? [400, error.message]
          : isClientError(error)
            ? [400, 'this request cannot be read']
            : [500, 'internal error'];
  response.status(status).json({ message });
}

/** Of express' parser of bodies and paths. */
function isClientError(error: unknown): boolean {
  const status = (error as { readonly status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500;
}

/** Changes within this time are one event. */
const GATHER_MS = 1_000;
/** Proxies end connections that are silent for a minute. */
const HEARTBEAT_MS = 20_000;
/** A viewer with more unread bytes is too slow. */
const MAX_UNREAD_BYTES = 16 * 1024;
const MAX_STREAMS = 400;
const MAX_STREAMS_OF_ONE = 20;

interface Stream {
  readonly response: ServerResponse;
  readonly username: string;
  /** Whether the viewer may still look. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Server-sent events: tells each open page that something changed, and the page asks again for what it shows. An event has a number
 * and nothing else. A viewer that does not read is dropped, and never holds anything up.
 */
export class LiveStreams {
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #revision: () => number;
  readonly #open = new Set<Stream>();
  #cancelEvent: (() => void) | undefined;
  #cancelBeat: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'schedule'>, revision: () => number) {
    this.#clock = clock;
    this.#revision = revision;
  }

  get size(): number {
    return this.#open.size;
  }

  /** @returns false if there are too many */
  add(stream: Stream): boolean {
    const own = [...this.#open].filter(({ username }) => username === stream.username).length;
    if (this.#open.size >= MAX_STREAMS || own >= MAX_STREAMS_OF_ONE) return false;
    const { response } = stream;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    this.#open.add(stream);
    response.once('close', () => this.#drop(stream));
    this.#send(stream, this.#event());
    this.#cancelBeat ??= this.#clock.schedule(HEARTBEAT_MS, () => this.#beat());
    return true;
  }

  changed(): void {
    if (this.#open.size === 0) return;
    this.#cancelEvent ??= this.#clock.schedule(GATHER_MS, () => {
      this.#cancelEvent = undefined;
      const event = this.#event();
      for (const stream of this.#open) this.#send(stream, event);
    });
  }

  close(): void {
    this.#cancelEvent?.();
    this.#cancelBeat?.();
    for (const stream of this.#open) stream.response.destroy();
  }

  #event(): string {
    return `event: changed\ndata: ${this.#revision()}\n\n`;
  }

  #send(stream: Stream, text: string): void {
    const { response } = stream;
    response.write(text);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  }

  #beat(): void {
    this.#cancelBeat = undefined;
    for (const stream of this.#open) {
      this.#send(stream, ': still here\n\n');
      void stream
        .isAllowed()
        .catch(() => true)
        .then((isAllowed) => {
          if (!isAllowed) stream.response.end();
        });
    }
    if (this.#open.size > 0) this.#cancelBeat = this.#clock.schedule(HEARTBEAT_MS, () => this.#beat());
  }

  #drop(stream: Stream): void {
    this.#open.delete(stream);
  }
}

const MAX_BODY_BYTES = '1kb';

/**
 * The one action of the dashboard: `POST` with `{code}` approves what a placement holds, `GET` says whether the viewer may. The request
 * to the hub is made with the viewer's own token, so the hub decides, and its audit log names him.
 */
export function releaseRoutes(door: Door, { actAs, clock }: Pick<ServeOptions, 'actAs' | 'clock'>): Router {
  const routes = Router();
  const path = '/placements/:namespace/:name/release';
  routes.get(path, (request, response) =>
    door.admit(request, response, async (_viewer, { token }) => {
      const { namespace, name } = refOf(request);
      const allowed =
        actAs !== undefined && (await door.may(token, { verb: 'patch', kind: PLACEMENT, namespace, name }));
      response.json({ allowed });
    }),
  );
  routes.post(path, refuseOtherSites, json({ limit: MAX_BODY_BYTES }), (request, response) =>
    door.admit(request, response, async ({ username }, { token }) => {
      const ref = refOf(request);
      const { code } = (request.body ?? {}) as { readonly code?: unknown };
      if (typeof code !== 'string' || !/^[0-9a-f]{12}$/.test(code))
        return void response.status(400).json({ message: 'expected {"code": "12 hexadecimal digits"}' });
      if (actAs === undefined)
        return void response.status(501).json({ message: 'this dashboard releases nothing' });
      const placement = `${ref.namespace}/${ref.name}`;
      const hub = actAs(token);
      try {
        const releasedBy = `${username} on the dashboard at ${new Date(clock.now()).toISOString()}`;
        await releasePlacement(hub, ref, { code, releasedBy });
        door.log('released from the dashboard', { user: username, placement, code });
        response.json({ message: `released ${placement}` });
      } catch (error) {
        door.log('not released from the dashboard', { user: username, placement, code, error });
        refuse(error, response);
      } finally {
        hub.close();
      }
    }),
  );
  return routes;
}

/** What the hub says to the viewer himself. */
function refuse(error: unknown, response: Response): void {
  if (!(error instanceof BerthError)) throw error;
  const status =
    error instanceof TransientError ? 503 : !(error instanceof InputError) ? 500 : statusOf(error.code);
  response.status(status).json({ message: status === 500 ? 'internal error' : error.message });
}

function statusOf(code: string): number {
  switch (code) {
    case 'kube.forbidden':
      return 403;
    case 'kube.notfound':
    case 'release.placement':
      return 404;
    default:
      return 409;
  }
}
