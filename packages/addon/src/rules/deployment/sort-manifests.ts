import type { KubeObject } from '@berth/kube/model/object-meta';
import { done, failed, type Outcome } from '@berth/runtime/outcome';

/** What goes to one cluster. */
export interface Cargo {
  /** What runs there as long as the add-on is installed. */
  readonly deploy: readonly KubeObject[];
  /** Jobs and Pods that run once before the add-on is removed. */
  readonly hooks: readonly KubeObject[];
}

export interface SortedManifests {
  /** For the cluster of the add-on. */
  readonly managed: Cargo;
  /** For the cluster that runs the add-on's agent for it. */
  readonly hosting: Cargo;
}

const ADDON = 'addon.open-cluster-management.io';
const LOCATION = `${ADDON}/hosted-manifest-location`;
const PRE_DELETE_ANNOTATION = `${ADDON}/addon-pre-delete`;
const PRE_DELETE_LABEL = 'open-cluster-management.io/addon-pre-delete';
const HOOK_KINDS: ReadonlySet<string> = new Set(['Job', 'Pod']);

/**
 * Which cluster each manifest is for, and whether it is a hook. Only an add-on that another cluster hosts is split: without
 * one, everything goes to its own cluster.
 * Source: open-cluster-management.io/addon-framework `pkg/addonmanager/controllers/agentdeploy/utils.go`.
 */
export function sortManifests(manifests: readonly KubeObject[], isHosted: boolean): Outcome<SortedManifests> {
  if (!isHosted) return done({ managed: cargo(manifests), hosting: cargo([]) });
  const managed: KubeObject[] = [];
  const hosting: KubeObject[] = [];
  for (const manifest of manifests) {
    const location = locationOf(manifest);
    switch (location) {
      case '':
      case 'managed':
        managed.push(manifest);
        break;
      case 'hosting':
        hosting.push(manifest);
        break;
      case 'none':
        break;
      default:
        return failed(`not supported manifest location: ${location}`);
    }
  }
  return done({ managed: cargo(managed), hosting: cargo(hosting) });
}

function cargo(manifests: readonly KubeObject[]): Cargo {
  return {
    deploy: manifests.filter((manifest) => !isPreDeleteHook(manifest)),
    hooks: manifests.filter(isPreDeleteHook),
  };
}

/** Other kinds with the mark are ordinary manifests: nothing tells when they are done. */
function isPreDeleteHook({ kind, metadata }: KubeObject): boolean {
  if (!HOOK_KINDS.has(kind)) return false;
  return (
    metadata.annotations?.[PRE_DELETE_ANNOTATION] !== undefined ||
    metadata.labels?.[PRE_DELETE_LABEL] !== undefined
  );
}

function locationOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[LOCATION] || metadata.labels?.[LOCATION] || '';
}
