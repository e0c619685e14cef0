import { BearerTokens } from '../../../../plugin/bearer-tokens.ts';
import { GETPARAMS_PATH, GetparamsEndpoint } from '../../../../plugin/getparams-endpoint.ts';
import type { PluginSource } from '../../../../plugin/plugin-source.ts';
import { type HttpListener, listenHttp } from '../../../adapters/http/http-listener.ts';
import { sha256 } from '../../../adapters/store/world-digest.ts';
import type { ManagedCluster } from '../../../core/model/managed-cluster.ts';
import type { HubInventory } from '../hub-inventory.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';
import type { PublishedPlacement } from '../publish/published-book.ts';
import { webhookRoute } from './webhook-route.ts';

/** On a Placement: its ApplicationSets may get an empty list. */
const ON_EMPTY_ANNOTATION = 'berth.dev/on-empty';

export interface ControllerHttp extends HttpListener {
  /** Begins to load what the first request of a person, a monitor or a forge would have to wait for. */
  prepare(): void;
}

/**
 * The plugin endpoint is asked at every reconcile of every ApplicationSet: it sits on node:http directly. What people, monitors
 * and forges ask goes through express, which is loaded when somebody asks: a start has better things to do.
 */
export async function serveHttp(parts: ControllerHttpOptions): Promise<ControllerHttp | undefined> {
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
  // Secrets that cannot be read are told now, not to the first forge that comes.
  const webhooks = webhookRoute(parts);
  const loadRoutes = async () => (await import('./people-routes.ts')).peopleRoutes(parts, tokens, webhooks);
  let routes: ReturnType<typeof loadRoutes> | undefined;
  const listener = await listenHttp(http, async (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    // A prefix in Argo CD's baseUrl stays in the path.
    if (path.endsWith(GETPARAMS_PATH)) return endpoint.handle(request, response);
    (await (routes ??= loadRoutes()))(request, response);
  });
  return { ...listener, prepare: () => void (routes ??= loadRoutes()).catch(() => undefined) };
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

function addGauges({ metrics, inventory, book, decider, loops }: ControllerHttpOptions): void {
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
  metrics.gaugePerLabels(
    'berth_source_unlisted_kinds',
    'Kinds of a source that could not be listed on the hub: nothing of them is applied or deleted',
    ['source', 'resource', 'reason'],
    () =>
      loops
        .map((loop) => loop.status())
        .flatMap(({ name: source, outcome }) =>
          (outcome?.unlisted ?? []).map(({ resource, error }) => ({
            labels: { source, resource, reason: error.code },
            value: 1,
          })),
        ),
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
