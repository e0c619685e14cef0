import type { ManagedNamespaceStatus } from '@berth/ocm/kind/managed-cluster';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';

const LABEL_PREFIX = 'clusterset.open-cluster-management.io/';
const MAX_LABEL_NAME = 63;

/**
 * The label of namespaces that a hub manages on the cluster: `true`, or `false` after it no longer does.
 * @param hubHash lower-case hex SHA-256 of the server of the bootstrap kubeconfig, verbatim
 */
export function managedNamespaceLabel(hubHash: string): string {
  return `${LABEL_PREFIX}${hubHash.slice(0, MAX_LABEL_NAME)}`;
}

/** Namespaces that are labelled as managed and no longer are. They are never deleted. */
export function namespacesGivenUp(
  wanted: readonly ManagedNamespaceStatus[],
  labelled: readonly KubeObject[],
): readonly string[] {
  const names = new Set(wanted.map(({ name }) => name));
  return labelled.map(({ metadata }) => metadata.name).filter((name) => !names.has(name));
}

/** @param problem undefined if the namespace exists */
export function namespaceCondition(problem: string | undefined): Condition {
  return problem === undefined
    ? {
        type: 'NamespaceAvailable',
        status: 'True',
        reason: 'NamespaceApplied',
        message: 'Namespace successfully applied and managed',
      }
    : {
        type: 'NamespaceAvailable',
        status: 'False',
        reason: 'NamespaceApplyFailed',
        message: `Failed to apply namespace: ${problem}`,
      };
}
