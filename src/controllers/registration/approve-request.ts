import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { CertificateRequestObject } from '../../core/registration/approval/judge-request.ts';
import type { KubeApi } from '@berth/kube/model/kube-api';

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
