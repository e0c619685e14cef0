import type { LeadershipStatus } from '@berth/kube/leader-election/leadership';
import type { Clock } from '@berth/runtime/clock/clock';
import { printable } from '@berth/runtime/text/printable';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import type { TokenScope } from '../../../../plugin/tokens/token-grant.ts';
import { CONTENT_POLICY } from '../../../core/preview/report/report-style.ts';
import { placementGate } from '../../../core/publish/judge/placement-gate.ts';
import type { ControllerHttpOptions, PreviewParts } from './controller-http-options.ts';
import { controllerStatus } from './controller-status.ts';

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

export function requireScope(tokens: Pick<BearerTokens, 'identify'>, scope: TokenScope): RequestHandler {
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
  const unread = loops.flatMap((loop) => loop.status()).filter(({ content }) => content === undefined);
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

const SOURCE = /^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/;
const FILE = /^[1-9][0-9]{0,15}\.(html|svg)$/;
/** A report runs its own script and loads nothing, even if the escaping of a name failed. It has no origin. */
const POLICY = `${CONTENT_POLICY}; sandbox allow-scripts; frame-ancestors 'none'`;

/** Serves a stored page or picture of a preview: with a signed link that has not expired, or with a token as for `/api`. */
function previewRoute(
  { reports, links }: PreviewParts,
  { clock }: { readonly clock: Clock },
  requireApi: RequestHandler,
): RequestHandler {
  return (request, response, next) => {
    const send = async (): Promise<void> => {
      const { source, file } = request.params;
      const isName =
        typeof source === 'string' && typeof file === 'string' && SOURCE.test(source) && FILE.test(file);
      const content = isName ? await reports.read(source, file) : undefined;
      if (content === undefined) {
        response.status(404).json({ message: 'there is no such preview' });
        return;
      }
      response
        .type(String(file).endsWith('.svg') ? 'image/svg+xml' : 'html')
        .set({ 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' })
        .set({ 'referrer-policy': 'no-referrer' })
        .send(content);
    };
    if (links.isValid(request.path, request.query, clock.now())) void send().catch(next);
    else
      void requireApi(request, response, (error?: unknown) => {
        if (error === undefined) void send().catch(next);
        else next(error);
      });
  };
}

/**
 * `GET /placements/NAMESPACE/NAME`: whether a promotion that depends on the placement may continue
 * (`placementGate`), as JSON `{open, reasons}`. With `?fail` a closed gate responds with 409, for
 * clients that check only the status code.
 */
function gateRoutes({ inventory }: ControllerHttpOptions, requireApi: RequestHandler): Router {
  const gates = Router();
  gates.use(requireApi);
  gates.get('/placements/:namespace/:name', (request, response) => {
    const { namespace, name } = request.params;
    const found = inventory
      .snapshot()
      .placements.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (found === undefined) {
      response.status(404).json({ message: `there is no Placement ${namespace}/${name}` });
      return;
    }
    const { open, reasons } = placementGate(found, inventory.problemFor(found));
    const status = !open && 'fail' in request.query ? 409 : 200;
    response.status(status).json({ placement: `${namespace}/${name}`, open, reasons });
  });
  return gates;
}
