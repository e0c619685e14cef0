import { BerthError, InputError, TransientError } from '@berth/runtime/errors';
import express, { type Request, type Response, Router } from 'express';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import { DashboardReader } from '../../../controllers/dashboard/dashboard-reader.ts';
import { QuestionThread } from '../../../controllers/dashboard/question-thread.ts';
import type { Sight } from '../../../core/dashboard/sight.ts';
import { ownPlacements } from '../../settings/serve-options.ts';
import type { ControllerHttpOptions, Dashboard } from '../http/controller-http-options.ts';
import { ChangeReader } from './change-reader.ts';
import { Door, refuseOtherSites } from './door.ts';
import { extensionRoutes } from './extension-routes.ts';
import { KeptJson, sendZipped, zippedJson } from './kept-json.ts';
import { LiveStreams } from './live-streams.ts';
import { PAGE_HEADERS, PageFiles } from './page-files.ts';
import { releaseRoutes } from './release-routes.ts';

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
