import type { IncomingMessage, ServerResponse } from 'node:http';
import { BearerTokens } from '../../../plugin/bearer-tokens.ts';
import { GETPARAMS_PATH, GetparamsEndpoint } from '../../../plugin/getparams-endpoint.ts';
import type { PluginSource } from '../../../plugin/plugin-source.ts';
import { type HttpListener, listenHttp } from '../../adapters/http/http-listener.ts';
import { sha256 } from '../../adapters/store/world-digest.ts';
import type { ManagedCluster } from '../../core/model/managed-cluster.ts';
import type { WorkQueue } from '../../runtime/work-queue.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { controllerStatus } from './controller-status.ts';
import type { GitLoop } from './git-loop.ts';
import type { HubInventory } from './hub-inventory.ts';
import type { PublishedBook, PublishedPlacement } from './published-book.ts';
import type { ServeFleetOptions } from './serve-options.ts';

export interface ControllerHttpOptions {
  readonly options: ServeFleetOptions;
  readonly inventory: HubInventory;
  readonly book: PublishedBook;
  readonly metrics: ControllerMetrics;
  readonly loops: readonly GitLoop[];
  readonly decider: { readonly queue: WorkQueue };
  readonly warnings: () => readonly string[];
}

/** On a Placement: its ApplicationSets may get an empty list. */
const ON_EMPTY_ANNOTATION = 'berth.dev/on-empty';

/** /healthz, /readyz, /metrics for everybody; the plugin endpoint and /api/v1 for those who have a token. */
export async function serveHttp(parts: ControllerHttpOptions): Promise<HttpListener | undefined> {
  const { http } = parts.options;
  if (http === undefined) return undefined;
  const tokens = http.tokenFile === undefined ? { accepts: () => false } : new BearerTokens(http.tokenFile);
  const { metrics } = parts;
  addGauges(parts);
  const endpoint = new GetparamsEndpoint({
    source: pluginSource(parts),
    tokens,
    onAnswer: ({ applicationSet, status }) => metrics.answered(applicationSet, status),
  });
  return listenHttp(http, async (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    // A prefix in Argo CD's baseUrl stays in the path.
    if (path.endsWith(GETPARAMS_PATH)) return endpoint.handle(request, response);
    if (path === '/healthz') return sendText(response, 200, 'ok');
    if (path === '/readyz') return sendReady(response, parts);
    if (path === '/metrics')
      return sendText(response, 200, await metrics.registry.metrics(), metrics.registry.contentType);
    if (path.startsWith('/api/v1/')) return answerApi(path, request, response, { parts, tokens });
    sendJson(response, 404, { message: `nothing is served at ${path}` });
  });
}

function answerApi(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  { parts, tokens }: { parts: ControllerHttpOptions; tokens: Pick<BearerTokens, 'accepts'> },
): void {
  if (!tokens.accepts(request.headers.authorization))
    return sendJson(response, 401, { message: 'the bearer token is not accepted' });
  if (path === '/api/v1/status' && request.method === 'GET')
    return sendJson(response, 200, controllerStatus(parts));
  if (path === '/api/v1/reconcile' && request.method === 'POST') {
    for (const loop of parts.loops) loop.trigger();
    return sendJson(response, 202, { message: 'the sources are fetched now' });
  }
  sendJson(response, 404, { message: `nothing is served at ${request.method} ${path}` });
}

function sendReady(response: ServerResponse, { book, inventory }: ControllerHttpOptions): void {
  const problem = book.complete
    ? inventory.problem()
    : (inventory.problem() ?? 'the first publication is not complete');
  if (problem === undefined) sendText(response, 200, 'ok');
  else sendText(response, 503, problem);
}

function pluginSource({ book, inventory }: ControllerHttpOptions): PluginSource {
  const ids = new WeakMap<PublishedPlacement, string>();
  return {
    problem: () =>
      inventory.problem() ?? (book.complete ? undefined : 'the first publication is not complete'),
    placement: (name) => {
      const published = book.get(name);
      if (published === undefined) return undefined;
      let decisionId = ids.get(published);
      if (decisionId === undefined)
        ids.set(published, (decisionId = sha256(JSON.stringify(published)).slice(0, 12)));
      const annotations = inventory.placements.store.get(name)?.metadata.annotations;
      return {
        groups: published.groups,
        decisionId,
        emptyAllowed: annotations?.[ON_EMPTY_ANNOTATION] === 'allow',
      };
    },
    cluster: (name) => inventory.clusters.store.get(name) as unknown as ManagedCluster | undefined,
  };
}

function addGauges({ metrics, inventory, book, decider }: ControllerHttpOptions): void {
  const perKind = (value: (reflector: HubInventory['clusters']) => number) => () =>
    new Map(inventory.reflectors.map((reflector) => [reflector.kind.kind, value(reflector)]));
  metrics.gaugePerKind(
    'berth_inventory_staleness_seconds',
    'Time since the hub confirmed a kind; -1 before the first list',
    perKind((r) => r.stalenessMs() / 1000),
  );
  metrics.gaugePerKind(
    'berth_inventory_objects',
    'Objects known',
    perKind((r) => r.store.size),
  );
  metrics.gaugePerKind(
    'berth_inventory_lists',
    'Complete lists read since the start',
    perKind((r) => r.relists),
  );
  metrics.gauge(
    'berth_published_placements',
    'Placements with a published decision',
    () => book.list().length,
  );
  metrics.gauge('berth_publish_queue_depth', 'Placements waiting to be published', () => decider.queue.depth);
  metrics.gauge(
    'berth_publish_queue_retrying',
    'Placements waiting for another try',
    () => decider.queue.delayed,
  );
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  sendText(response, status, JSON.stringify(body), 'application/json');
}

function sendText(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}
