import type { WatchedObject } from '../cluster/live-objects.ts';
import { NAMESPACE } from '@berth/kube/model/kinds';
import type { ManifestResult } from './apply-manifests.ts';

/** Missing namespaces that manifests of a work wait for. Each manifest is applied when its namespace exists. */
export function missingNamespaces(results: readonly ManifestResult[]): readonly WatchedObject[] {
  const names = results.flatMap(({ outcome }) =>
    outcome.kind === 'failed' ? (outcome.missingNamespace ?? []) : [],
  );
  return [...new Set(names)].map((name) => ({ kind: NAMESPACE, key: { namespace: '', name } }));
}
