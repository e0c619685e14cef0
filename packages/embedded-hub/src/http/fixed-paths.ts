import type { JsonObject } from '../json/json-value.ts';
import type { ApiResponse } from '../wire/api-response.ts';
import { jsonResponse, textResponse } from '../wire/api-response.ts';

/** The Kubernetes release whose API the hub speaks. Clients parse it as a semantic version. */
export const VERSION_INFO: JsonObject = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2+berth',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'node/any',
};

const HEALTH = /^\/(healthz|livez|readyz)(\/[a-z-]+)?$/;

/** Health and version: paths without authentication. */
export function servePublicPath(
  method: string,
  path: string,
  query: URLSearchParams,
): ApiResponse | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/version' || path === '/version/') return jsonResponse(200, VERSION_INFO);
  const health = HEALTH.exec(path);
  if (health === null) return undefined;
  if (query.has('verbose'))
    return textResponse(200, `[+]ping ok\n[+]log ok\n${health[1] ?? ''} check passed\n`);
  return textResponse(200, 'ok');
}
