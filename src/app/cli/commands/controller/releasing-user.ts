import { userInfo } from 'node:os';
import { InputError } from '@berth/runtime/errors';
import { SELF_SUBJECT_REVIEW } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';

/**
 * The name of the releasing user for the annotation. An annotation does not show its author, so the
 * client requests its own name from the hub and records it. A user who may write the annotation
 * could write another name; only the hub's audit log is proof.
 * @param as the name given by the user; undefined: none
 * @throws TransientError when the hub does not respond
 */
export async function releasingUser(hub: KubeApi, as: string | undefined): Promise<string> {
  const user = await hubUser(hub);
  if (user === undefined)
    return `${as ?? userInfo().username} (Kubernetes user unknown: the hub has no SelfSubjectReview)`;
  const recorded = `Kubernetes user ${user}, as recorded by the client`;
  return as === undefined ? recorded : `${as} (${recorded})`;
}

/**
 * Undefined if the hub has no SelfSubjectReview (Kubernetes before 1.28), or this user may not
 * create one.
 */
async function hubUser(hub: KubeApi): Promise<string | undefined> {
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  };
  try {
    const { status } = (await hub.create(SELF_SUBJECT_REVIEW, review)) as {
      status?: { userInfo?: { username?: string } };
    };
    return status?.userInfo?.username;
  } catch (error) {
    if (error instanceof InputError && ['kube.notfound', 'kube.forbidden'].includes(error.code))
      return undefined;
    throw error;
  }
}
