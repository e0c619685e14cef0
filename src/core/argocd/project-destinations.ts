import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';

interface Destination {
  readonly name?: string;
  readonly server?: string;
}

/**
 * Whether a project may deploy to a cluster, in any namespace: by the name of the ManagedCluster or one of its URLs. What cannot
 * be known is no: which Secrets are of the project (`permitOnlyProjectScopedClusters`), and patterns with other signs than `*`
 * and `?`.
 * Source: argo-cd 3.6 `AppProject.isDestinationMatched`, in `pkg/apis/application/v1alpha1/app_project_types.go`.
 * @param project undefined: it could not be read
 */
export function mayDeployTo(project: KubeObject | undefined): (cluster: ManagedCluster) => boolean {
  const { destinations = [], permitOnlyProjectScopedClusters = false } = (project?.['spec'] ?? {}) as {
    readonly destinations?: readonly Destination[];
    readonly permitOnlyProjectScopedClusters?: boolean;
  };
  if (permitOnlyProjectScopedClusters) return () => false;
  return ({ metadata, spec }) => {
    const servers = (spec?.managedClusterClientConfigs ?? []).flatMap(({ url }) => url ?? []);
    let isMatched = false;
    for (const { name = '', server = '' } of destinations) {
      const isNamed = fits(name, metadata.name);
      const isServed = servers.some((one) => fits(server, one));
      if (isNamed || isServed) isMatched = true;
      else if (isDenied(name) || (servers.length > 0 && isDenied(server))) return false;
    }
    return isMatched;
  };
}

function isDenied(pattern: string): boolean {
  return pattern.startsWith('!');
}

function fits(pattern: string, text: string): boolean {
  if (isDenied(pattern)) return !/[[\]{}\\]/.test(pattern) && !fits(pattern.slice(1), text);
  if (/[[\]{}\\]/.test(pattern)) return false;
  const source = pattern
    .replace(/[.+^$()|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}
