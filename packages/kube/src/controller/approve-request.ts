import { CERTIFICATE_REQUEST } from '../model/kinds.ts';
import { formatRfc3339, instantFromEpochMs } from '../model/rfc3339.ts';
import type { CertificateRequestObject } from '../model/signing-request.ts';
import type { KubeApi } from '../model/kube-api.ts';

export interface ApprovedCondition {
  readonly type: 'Approved';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/**
 * Approves the version of the request that was judged.
 * @throws ConflictError when it changed meanwhile: another user may have denied it
 */
export async function approveRequest(
  hub: KubeApi,
  csr: CertificateRequestObject,
  condition: ApprovedCondition,
  { nowMs, fieldManager }: { readonly nowMs: number; readonly fieldManager: string },
): Promise<void> {
  const now = formatRfc3339(instantFromEpochMs(nowMs));
  const dated = { ...condition, lastUpdateTime: now, lastTransitionTime: now };
  const conditions = [...(csr.status?.conditions ?? []), dated];
  await hub.update(
    CERTIFICATE_REQUEST,
    { ...csr, status: { ...csr.status, conditions } },
    { subresource: 'approval', fieldManager, metadataOnly: true },
  );
}
