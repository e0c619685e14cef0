import { errorText } from '@berth/runtime/errors';
import type { ServerEndpoints } from './model/kube-api.ts';

/** The health that an API server reported. */
export type HealthProbe =
  | { readonly kind: 'ok' }
  /** @param why e.g. `status code: 500, …` */
  | { readonly kind: 'failed'; readonly why: string };

/** Characters of the body that are reported. A server lists all of its checks, and the list may differ with each probe. */
const MAX_TEXT = 200;

/**
 * Asks an API server for its health: `/livez`, or `/healthz` if the former does not exist or may not be read.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/available_reconcile.go`
 * (checkKubeAPIServerStatus); addon-framework `pkg/lease/lease_controller.go` (CheckManagedClusterHealthFunc) does the same.
 */
export async function probeHealth(server: ServerEndpoints): Promise<HealthProbe> {
  try {
    let response = await server.probe('/livez');
    if (response.statusCode === 404 || response.statusCode === 403) response = await server.probe('/healthz');
    const { statusCode, text } = response;
    if (statusCode >= 200 && statusCode < 300) return { kind: 'ok' };
    return { kind: 'failed', why: `status code: ${statusCode}, ${text.slice(0, MAX_TEXT)}` };
  } catch (error) {
    return { kind: 'failed', why: `status code: 0, ${errorText(error).slice(0, MAX_TEXT)}` };
  }
}

/** The `gitVersion` of the server; undefined if it does not report one. */
export async function serverVersion(server: ServerEndpoints): Promise<string | undefined> {
  try {
    const { statusCode, text } = await server.probe('/version');
    const { gitVersion } = JSON.parse(text) as { readonly gitVersion?: unknown };
    return statusCode === 200 && typeof gitVersion === 'string' ? gitVersion : undefined;
  } catch {
    return undefined;
  }
}
