import express from 'express';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { printable } from '@berth/runtime/text/printable';
import type { LeadershipStatus } from '@berth/kube/leader-election/leadership';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import type { TokenScope } from '../../../../plugin/tokens/token-grant.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';
import { controllerStatus } from './controller-status.ts';
import { gateRoutes } from './gate-routes.ts';
import { previewRoute } from './preview-route.ts';

/**
 * Public: /healthz, /readyz, and /metrics unless it is protected. /webhooks needs a signature of
 * the forge. /api/v1, /v1/gates and /previews need a token with their scope; a preview can also be
 * read with its signed link.
 */
export function controllerRoutes(
  parts: ControllerHttpOptions,
  tokens: Pick<BearerTokens, 'identify'>,
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
      .send(problem === undefined ? readyText(parts) : [problem, ...hubLine(parts)].join('\n'));
  });
  if (parts.options.http?.protectMetrics === true) routes.use('/metrics', requireScope(tokens, 'metrics'));
  routes.get('/metrics', async (_request, response) => {
    const { registry } = parts.metrics;
    response.type(registry.contentType).send(await registry.metrics());
  });
  routes.use('/webhooks', webhooks);
  routes.use('/api/v1', apiRoutes(parts, tokens));
  if (parts.previews !== undefined)
    routes.get(
      '/previews/:source/:file',
      previewRoute(parts.previews, parts.options, requireScope(tokens, 'api')),
    );
  routes.use('/v1/gates', gateRoutes(parts, requireScope(tokens, 'api')));
  routes.use((request, response) => {
    response.status(404).json({ message: `nothing is served at ${request.method} ${request.path}` });
  });
  routes.use((_error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(_error);
    else response.status(500).json({ message: 'internal error' });
  });
  return routes;
}

function apiRoutes(parts: ControllerHttpOptions, tokens: Pick<BearerTokens, 'identify'>): express.Router {
  const api = express.Router();
  api.use(requireScope(tokens, 'api'));
  api.get('/status', (_request, response) => void response.json(controllerStatus(parts)));
  api.post('/reconcile', (_request, response) => {
    for (const loop of parts.loops) loop.reconcile();
    response
      .status(202)
      .json({ message: 'the controller now fetches its sources and compares the hub with them' });
  });
  return api;
}

function requireScope(tokens: Pick<BearerTokens, 'identify'>, scope: TokenScope): RequestHandler {
  return (request, response, next) => {
    const found = tokens.identify(request);
    if (found === undefined || found === 'placeholder')
      response
        .status(401)
        .set('www-authenticate', 'Bearer')
        .json({ message: 'the bearer token is not accepted' });
    else if (found.scopes.has(scope)) next();
    else response.status(403).json({ message: `token ${found.name} lacks the scope ${scope}` });
  };
}

/** Contains only names, because the caller has shown no token. */
function readyText(parts: ControllerHttpOptions): string {
  const { loops, leadership } = parts;
  const unread = loops.map((loop) => loop.status()).filter(({ content }) => content === undefined);
  return [
    'ok',
    ...electionLine(leadership.status()),
    ...hubLine(parts),
    ...unread.map(({ name }) => `source ${name} could not be read yet: see berth status`),
  ].join('\n');
}

/** An outage of the hub takes nothing out of service: what is published stays valid. */
function hubLine({ hubProblem }: ControllerHttpOptions): readonly string[] {
  return hubProblem() === undefined ? [] : ['the hub cannot be read or written: see berth status'];
}

function electionLine(status: LeadershipStatus | undefined): readonly string[] {
  if (status === undefined) return [];
  const { role, lease, holder } = status;
  return [
    `${role}${role === 'standby' && holder !== '' ? `: ${printable(holder)} leads` : ''} (Lease ${lease})`,
  ];
}
