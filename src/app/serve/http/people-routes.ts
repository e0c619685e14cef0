import express from 'express';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import type { BearerTokens } from '../../../../plugin/bearer-tokens.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';
import { controllerStatus } from './controller-status.ts';

/** /healthz, /readyz and /metrics for everybody; /webhooks for forges that sign; /api/v1 for those who have a token. */
export function peopleRoutes(
  parts: ControllerHttpOptions,
  tokens: Pick<BearerTokens, 'accepts'>,
  webhooks: RequestHandler,
): Express {
  const routes = express();
  routes.disable('x-powered-by').disable('etag');
  routes.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  routes.get('/healthz', (_request, response) => void response.type('text').send('ok'));
  routes.get('/readyz', (_request, response) => {
    const problem = parts.readiness.problem();
    response
      .status(problem === undefined ? 200 : 503)
      .type('text')
      .send(problem ?? readyText(parts));
  });
  routes.get('/metrics', async (_request, response) => {
    const { registry } = parts.metrics;
    response.type(registry.contentType).send(await registry.metrics());
  });
  routes.use('/webhooks', webhooks);
  routes.use('/api/v1', apiRoutes(parts, tokens));
  routes.use((request, response) => {
    response.status(404).json({ message: `nothing is served at ${request.method} ${request.path}` });
  });
  routes.use((_error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(_error);
    else response.status(500).json({ message: 'internal error' });
  });
  return routes;
}

function apiRoutes(parts: ControllerHttpOptions, tokens: Pick<BearerTokens, 'accepts'>): express.Router {
  const api = express.Router();
  api.use((request, response, next) => {
    if (tokens.accepts(request.headers.authorization)) next();
    else response.status(401).json({ message: 'the bearer token is not accepted' });
  });
  api.get('/status', (_request, response) => void response.json(controllerStatus(parts)));
  api.post('/reconcile', (_request, response) => {
    for (const loop of parts.loops) loop.reconcile();
    response.status(202).json({ message: 'the sources are fetched, and the hub is compared with them, now' });
  });
  return api;
}

/** Only names: whoever asks has shown no token. */
function readyText({ loops }: ControllerHttpOptions): string {
  const unread = loops.map((loop) => loop.status()).filter(({ fleet }) => fleet === undefined);
  return ['ok', ...unread.map(({ name }) => `source ${name} could not be read yet: see berth status`)].join(
    '\n',
  );
}
