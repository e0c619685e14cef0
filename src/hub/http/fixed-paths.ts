import type { JsonObject } from '../json/json-value.ts';
import type { Answer } from '../wire/answer.ts';
import { jsonAnswer, textAnswer } from '../wire/answer.ts';

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
export function answerPublicPath(method: string, path: string, query: URLSearchParams): Answer | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/version' || path === '/version/') return jsonAnswer(200, VERSION_INFO);
  const health = HEALTH.exec(path);
  if (health === null) return undefined;
  if (query.has('verbose'))
    return textAnswer(200, `[+]ping ok\n[+]log ok\n${health[1] ?? ''} check passed\n`);
  return textAnswer(200, 'ok');
}
