import { errorText } from '@berth/runtime/errors';
import type { ServerEndpoints } from '@berth/kube/model/kube-api';
import type { HealthProbe } from '../../rules/registration/judge-health.ts';

/** Characters of the body that are reported. A server lists all of its checks, and the list may differ with each probe. */
const MAX_TEXT = 200;

/**
 * Checks the API server of the managed cluster: `/livez`, or `/healthz` if the former does not exist or may not be
 * read.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/available_reconcile.go` (checkKubeAPIServerStatus).
 */
export async function probeServer(server: ServerEndpoints): Promise<HealthProbe> {
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
