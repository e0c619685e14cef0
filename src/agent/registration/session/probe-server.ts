import { errorText } from '../../../core/errors.ts';
import type { ServerEndpoints } from '../../../core/ports.ts';
import type { HealthProbe } from '../../../core/registration/agent/judge-health.ts';

/** Enough to say what is wrong; the whole list of checks of a server would change with each look. */
const MAX_TEXT = 200;

/**
 * Asks the API server of the managed cluster how it is: `/livez`, and `/healthz` where that does not exist or may not be read.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/available_reconcile.go` (checkKubeAPIServerStatus).
 */
export async function probeServer(server: ServerEndpoints): Promise<HealthProbe> {
  try {
    let answer = await server.probe('/livez');
    if (answer.statusCode === 404 || answer.statusCode === 403) answer = await server.probe('/healthz');
    const { statusCode, text } = answer;
    if (statusCode >= 200 && statusCode < 300) return { kind: 'ok' };
    return { kind: 'failed', why: `status code: ${statusCode}, ${text.slice(0, MAX_TEXT)}` };
  } catch (error) {
    return { kind: 'failed', why: `status code: 0, ${errorText(error).slice(0, MAX_TEXT)}` };
  }
}

/** `gitVersion` of the server; undefined when it does not say. */
export async function serverVersion(server: ServerEndpoints): Promise<string | undefined> {
  try {
    const { statusCode, text } = await server.probe('/version');
    const { gitVersion } = JSON.parse(text) as { readonly gitVersion?: unknown };
    return statusCode === 200 && typeof gitVersion === 'string' ? gitVersion : undefined;
  } catch {
    return undefined;
  }
}
