import type { KubeObject } from '@berth/kube/model/object-meta';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';

/** The next step of an agent for its certificate request. */
export type RequestStep =
  | { readonly kind: 'create' }
  /** The cluster, or the add-on, has too many requests, so the agent makes no other one. */
  | { readonly kind: 'crowded'; readonly count: number }
  | { readonly kind: 'wait'; readonly name: string }
  | { readonly kind: 'refused'; readonly name: string; readonly why: string }
  /** @param certificate PEM in base64 */
  | { readonly kind: 'issued'; readonly name: string; readonly certificate: string };

/** The agent makes no further request if its cluster, or the add-on, has this many on the hub. */
export const MAX_PENDING_REQUESTS = 10;

interface SigningRequest {
  readonly metadata: KubeObject['metadata'];
  readonly spec?: { readonly request?: string | undefined } | undefined;
  readonly status?:
    | {
        readonly certificate?: string | undefined;
        readonly conditions?:
          | readonly { readonly type: string; readonly reason?: string; readonly message?: string }[]
          | undefined;
      }
    | undefined;
}

/**
 * Finds the request of an agent by its content and not by its name: an agent that was killed between the request and
 * its response does not know the name.
 * Source of the order: open-cluster-management.io/ocm `pkg/registration/register/csr/csr.go` (processCSR). There an
 * agent loses its key at a restart, and makes another request.
 * @param requests of the cluster on the hub, those of its add-ons included
 * @param sent `spec.request` as it was sent, PEM in base64
 * @param addon that asks; undefined: the cluster itself
 */
export function nextRequestStep(requests: readonly KubeObject[], sent: string, addon?: string): RequestStep {
  const all = requests as readonly SigningRequest[];
  const own = all.find(({ spec }) => spec?.request === sent);
  if (own === undefined) {
    const count = all.filter(({ metadata }) => metadata.labels?.[ADDON_NAME_LABEL] === addon).length;
    return count >= MAX_PENDING_REQUESTS ? { kind: 'crowded', count } : { kind: 'create' };
  }
  const { name } = own.metadata;
  const refusal = own.status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
  if (refusal !== undefined) {
    const words = [refusal.reason, refusal.message].filter((text) => text).join(': ');
    return { kind: 'refused', name, why: `${refusal.type}${words === '' ? '' : ` (${words})`}` };
  }
  const certificate = own.status?.certificate ?? '';
  return certificate === '' ? { kind: 'wait', name } : { kind: 'issued', name, certificate };
}
