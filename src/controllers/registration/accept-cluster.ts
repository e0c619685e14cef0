import { InputError } from '@berth/runtime/errors';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CERTIFICATE_REQUEST, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { type ChoiceRules, chooseRequests } from '../../core/registration/approval/choose-requests.ts';
import type { CertificateRequestObject } from '@berth/kube/model/signing-request';
import { CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { approveRequest } from '@berth/kube/controller/approve-request';
import { isAlive, isJoined } from '../../core/registration/health/is-live.ts';
import { readRequest } from '@berth/kube/x509/certificate-request';

export interface AcceptRun {
  readonly nowMs: number;
  /** Write nothing. */
  readonly dryRun: boolean;
}

export interface Acceptance {
  /** What was done, and why requests were not approved, as lines for users. */
  readonly lines: readonly string[];
  /** Whether the agent has a certificate, or gets one. */
  readonly hasCertificate: boolean;
}

const FIELD_MANAGER = 'berth-cli';
const APPROVED = {
  type: 'Approved',
  status: 'True',
  reason: 'BerthAccept',
  message: 'This CSR was approved by berth accept.',
} as const;

/** @throws InputError when the hub has no such cluster */
export async function readCluster(hub: KubeApi, name: string): Promise<ManagedCluster> {
  const cluster = await hub.get(MANAGED_CLUSTER, { namespace: '', name });
  if (cluster !== undefined) return cluster as ManagedCluster;
  throw new InputError('the hub has no such cluster', {
    code: 'kube.notfound',
    subject: `ManagedCluster ${name}`,
    hint: 'the agent of the cluster creates it; --wait waits for that',
  });
}

/**
 * Approves the certificate requests of the named cluster, and sets hubAcceptsClient. Completed steps are skipped.
 * @throws InputError when the hub has no such cluster, or the namespace of that name is not the cluster's; ConflictError when another user
 * decided a request meanwhile
 */
export async function acceptCluster(
  hub: KubeApi,
  rules: Omit<ChoiceRules, 'isAlive'>,
  { nowMs, dryRun }: AcceptRun,
): Promise<Acceptance> {
  const { cluster } = rules;
  const found = await readCluster(hub, cluster);
  const isAccepted = found.spec?.hubAcceptsClient === true;
  if (!isAccepted) await refuseNamespaceOfOthers(hub, cluster);
  const labelSelector = `${CLUSTER_NAME_LABEL}=${cluster}`;
  const { items } = await hub.list(CERTIFICATE_REQUEST, { labelSelector });
  const requests = (items as readonly CertificateRequestObject[]).map((csr) => ({
    csr,
    content: readRequest(csr),
  }));
  const { approve, approved, denied, left } = chooseRequests(requests, {
    ...rules,
    isAlive: isAlive(found),
  });
  if (!dryRun) {
    for (const csr of approve)
      await approveRequest(hub, csr, APPROVED, { nowMs, fieldManager: FIELD_MANAGER });
    if (!isAccepted) await setAccepted(hub, found);
  }
  const accepted = isAccepted ? 'hubAcceptsClient already set' : 'set hubAcceptsClient to true';
  return {
    lines: [
      ...approve.map(({ metadata }) => `CSR ${metadata.name} approved`),
      ...approved.map((name) => `CSR ${name} already approved`),
      ...denied.map((name) => `CSR ${name} already denied`),
      ...left.map(({ name, why }) => `CSR ${name} is not approved: ${why}`),
      `${accepted} for managed cluster ${cluster}`,
    ],
    hasCertificate: approve.length + approved.length > 0 || isJoined(found),
  };
}

/** The agent of the cluster gets rights in the namespace of its name: leases and works there are its own. */
async function refuseNamespaceOfOthers(hub: KubeApi, name: string): Promise<void> {
  const namespace = await hub.get(NAMESPACE, { namespace: '', name });
  if (namespace === undefined || namespace.metadata.labels?.[CLUSTER_NAME_LABEL] === name) return;
  throw new InputError('the hub has a namespace of this name that is not known to be the cluster’s', {
    code: 'accept.namespace',
    subject: `ManagedCluster ${name}`,
    hint: `its agent gets rights there; if it is meant for the cluster: kubectl label namespace ${name} ${CLUSTER_NAME_LABEL}=${name}`,
  });
}

async function setAccepted(hub: KubeApi, { metadata }: ManagedCluster): Promise<void> {
  const { name, uid } = metadata;
  await hub.mergePatch(
    MANAGED_CLUSTER,
    { namespace: '', name },
    { metadata: { uid }, spec: { hubAcceptsClient: true } },
    { fieldManager: FIELD_MANAGER, metadataOnly: true },
  );
}
