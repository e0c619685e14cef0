import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import { GetparamsEndpoint, type ServedRequest } from '../../../../plugin/getparams-endpoint.ts';
import { GETPARAMS_PATH } from '../../../../plugin/getparams-path.ts';
import { type HttpListener, listenHttp } from '@berth/runtime/http/http-listener';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { TlsPair } from '@berth/runtime/http/tls-pair';
import type { Logger } from '@berth/runtime/logger';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import type { ServeHttpOptions } from '../../settings/serve-options.ts';
import { addControllerGauges } from './controller-gauges.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';
import { publishedPluginSource } from './published-plugin-source.ts';
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
  const pair = http.tls === undefined ? undefined : new TlsPair(http.tls, log);
  const listener = await listenHttp({ ...http, tls: pair?.identity }, async (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    // Argo CD keeps a path prefix of its baseUrl, so only the end of the path counts.
    if (path.endsWith(GETPARAMS_PATH)) return endpoint.handle(request, response);
    (await (routes ??= loadRoutes()))(request, response);
  });
  if (pair === undefined) warnOfClearText(http, log);
  const stopFollowing = pair?.follow(clock, (identity) => listener.renew(identity));
  return {
    ...listener,
    prepare: () => void (routes ??= loadRoutes()).catch(() => undefined),
    close: () => {
      stopFollowing?.();
      return listener.close();
    },
  };
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
