import type { ObjectStore } from '@berth/kube/cache/object-store';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { isInSet, membershipOf } from '@berth/placement/filter/eligibility';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import { TlsPair } from '@berth/runtime/http/tls-pair';
import type { Logger } from '@berth/runtime/logger';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import { sha256 } from '@berth/runtime/sha256';
import {
  GETPARAMS_PATH,
  GetparamsEndpoint,
  type ServedRequest,
} from '../../../../plugin/getparams-endpoint.ts';
import {
  type AddOnScore,
  ON_EMPTY_ANNOTATION,
  type PluginPlacement,
  type PluginSource,
} from '../../../../plugin/response/plugin-source.ts';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import type { PublishedPlacement } from '../../../core/publish/pages/published-placements.ts';
import type { ServeHttpOptions } from '../../settings/serve-options.ts';
import { addControllerGauges } from './controller-gauges.ts';
import type { ControllerHttpOptions, Dashboard } from './controller-http-options.ts';
import { webhookRoute } from './webhook-route.ts';

/** Minimum interval of logged refusals per token, so that one client cannot fill the log. */
const REFUSALS_LOGGED_EVERY_MS = 60_000;

export interface ControllerHttp extends HttpListener {
  /** Starts to load the modules that the first request of a person, a monitor or a forge needs. */
  prepare(): void;
}

/**
 * The plugin endpoint gets a request at every reconcile of every ApplicationSet: it uses node:http
 * directly. Requests of people, monitors and forges use express, which is loaded on demand to keep
 * the start fast.
 */
export async function serveHttp(parts: ControllerHttpOptions): Promise<ControllerHttp | undefined> {
  const { http } = parts.options;
  if (http === undefined) return undefined;
  const { clock, log } = parts.options;
  const tokens = await openTokens(http.tokenFile, parts);
  addControllerGauges(parts);
  const endpoint = new GetparamsEndpoint({
    source: publishedPluginSource(parts),
    tokens,
    clock: systemClock,
    onResponse: reportResponses(parts),
  });
  // Secrets that cannot be read are reported at the start, not at the first delivery.
  const webhooks = webhookRoute(parts);
  const loadRoutes = async () =>
    (await import('./controller-routes.ts')).controllerRoutes(parts, tokens, webhooks);
  let routes: ReturnType<typeof loadRoutes> | undefined;
  let dashboard: Promise<Dashboard> | undefined;
  const openDashboard = (): Promise<Dashboard> => {
    const opened = (dashboard ??= parts.loadDashboard(parts, tokens));
    // What failed once, such as a full disk, may work the next time.
    opened.catch(() => (dashboard = undefined));
    return opened;
  };
  const pair = http.tls === undefined ? undefined : new TlsPair(http.tls, log);
  const listener = await listenHttp({ ...http, tls: pair?.identity }, async (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    // Argo CD keeps a path prefix of its baseUrl, so only the end of the path counts.
    if (path.endsWith(GETPARAMS_PATH)) return endpoint.handle(request, response);
    if (isOfDashboard(path)) return (await openDashboard()).handle(request, response);
    (await (routes ??= loadRoutes()))(request, response);
  });
  if (pair === undefined) warnOfClearText(http, log);
  const stopFollowing = pair?.follow(clock, (identity) => listener.renew(identity));
  return {
    ...listener,
    prepare: () => void (routes ??= loadRoutes()).catch(() => undefined),
    close: async () => {
      stopFollowing?.();
      await (await dashboard?.catch(() => undefined))?.close();
      return listener.close();
    },
  };
}

/** Whether a path is one of the dashboard. */
function isOfDashboard(path: string): boolean {
  return path === '/' || /^\/(change$|p\/|c\/|ui\/|argocd\/)/.test(path);
}

function warnOfClearText({ host, tokenFile, webhookSecretFiles = {} }: ServeHttpOptions, log: Logger): void {
  // GitLab and Azure DevOps send the secret itself, the other forges send a signature.
  const webhooks = ['gitlab', 'azure-devops'].filter((provider) => provider in webhookSecretFiles);
  if (isLoopbackHost(host) || (tokenFile === undefined && webhooks.length === 0)) return;
  log.warn('bearer tokens and secrets of webhooks are sent unencrypted', {
    listen: host,
    hint: 'serve TLS with --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that does',
  });
}

type Tokens = Pick<BearerTokens, 'identify'>;

/** Loaded only if there is a token file, because its schema is large. */
async function openTokens(file: string | undefined, { options }: ControllerHttpOptions): Promise<Tokens> {
  if (file === undefined) {
    options.log.info(
      'no token file is set: berth status, berth reconcile and the plugin endpoint answer 401',
      {
        hint: 'serve with --token-file: docs/publishing.md',
      },
    );
    return { identify: () => undefined };
  }
  const { BearerTokens: Opened } = await import('../../../../plugin/tokens/bearer-tokens.ts');
  return new Opened({ file, clock: options.clock, log: options.log });
}

/**
 * Counts requests by token in the metrics, and logs refusals with the name of the token, never with
 * the token.
 */
function reportResponses({ metrics, options }: ControllerHttpOptions): (request: ServedRequest) => void {
  const loggedAtMs = new Map<string, number>();
  return (request) => {
    metrics.pluginResponded(request);
    const { token, applicationSet, status } = request;
    const nowMs = options.clock.now();
    if (status !== 403 || nowMs - (loggedAtMs.get(token) ?? -Infinity) < REFUSALS_LOGGED_EVERY_MS) return;
    loggedAtMs.set(token, nowMs);
    options.log.warn('plugin request was refused', { token, applicationSet });
  };
}

type Parts = Pick<ControllerHttpOptions, 'publishedPlacements' | 'inventory' | 'commitOf' | 'waves'>;

const WITHOUT_WAVES = {
  ok: false,
  isWrong: true,
  message: 'input.parameters.waves needs berth serve --argocd-waves',
} as const;

/**
 * The data of the plugin endpoint: published decisions and clusters, from the controller's memory.
 */
function publishedPluginSource({ publishedPlacements, inventory, commitOf, waves }: Parts): PluginSource {
  const { clusters, clusterSets, placements, scores } = inventory;
  const ids = new WeakMap<PublishedPlacement, string>();
  const decisionId = (published: PublishedPlacement): string => {
    const known = ids.get(published) ?? sha256(JSON.stringify(published)).slice(0, 12);
    ids.set(published, known);
    return known;
  };
  const lastCommits = new Map<string, string>();
  /** If a placement was deleted while its decision stays published, the previous commit counts. */
  const lastCommitOf = (name: string): string => {
    const placement = placements.store.get(name);
    if (placement !== undefined) lastCommits.set(name, commitOf(placement));
    return lastCommits.get(name) ?? '';
  };
  const clusterOf = (name: string): ManagedCluster | undefined =>
    clusters.store.get(name) as unknown as ManagedCluster | undefined;
  const scoresOf = scoresByCluster(scores.store);
  return {
    problem: () =>
      inventory.servingProblem() ??
      (publishedPlacements.complete ? undefined : 'the first publication is not complete'),
    placement: (name): PluginPlacement | undefined => {
      const published = publishedPlacements.get(name);
      if (published === undefined) return undefined;
      const annotations = placements.store.get(name)?.metadata.annotations;
      return {
        groups: published.groups,
        decisionId: decisionId(published),
        commit: lastCommitOf(name),
        emptyAllowed: annotations?.[ON_EMPTY_ANNOTATION] === 'allow',
      };
    },
    cluster: clusterOf,
    scores: scoresOf,
    isInSets: setsOf(inventory),
    waves: (request) => waves?.readWaves(request) ?? WITHOUT_WAVES,
    // Each of these revisions only grows.
    revision: () => clusters.store.revision + clusterSets.store.revision + scores.store.revision,
  };
}

/** Whether a cluster is in one of these sets. */
export function setsOf({ clusters, clusterSets }: Parts['inventory']): PluginSource['isInSets'] {
  return (name, sets) => {
    const cluster = clusters.store.get(name) as unknown as ManagedCluster | undefined;
    if (cluster === undefined) return false;
    return [...sets].some((set) => {
      const found = clusterSets.store.get(set) as unknown as ManagedClusterSet | undefined;
      return found !== undefined && isInSet(cluster, membershipOf(found));
    });
  };
}

const NONE: readonly AddOnScore[] = [];

/** The scores of a cluster are in its namespace. They are grouped again when one of them changed. */
function scoresByCluster(store: ObjectStore): (cluster: string) => readonly AddOnScore[] {
  let revision = -1;
  const grouped = new Map<string, AddOnScore[]>();
  return (cluster) => {
    if (revision !== store.revision) {
      grouped.clear();
      for (const object of store.list()) {
        const { metadata, status } = object as unknown as AddOnPlacementScore;
        const namespace = metadata.namespace ?? '';
        const known = grouped.get(namespace) ?? [];
        for (const { name, value } of status?.scores ?? [])
          known.push({ resource: metadata.name, name, value });
        grouped.set(namespace, known);
      }
      revision = store.revision;
    }
    return grouped.get(cluster) ?? NONE;
  };
}
