import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';

/** Written and read by this version; a file with another one is refused. */
export const INVENTORY_VERSION = 1;

/**
 * The state of a hub that a plan reads, at one moment. It is sufficient for a plan without access to the hub. Plain
 * JSON.
 */
export interface Inventory {
  readonly kind: 'BerthInventory';
  readonly version: typeof INVENTORY_VERSION;
  /** RFC 3339. */
  readonly takenAt: string;
  /** URL of the hub's API server. */
  readonly hub: string;
  /** Version of Berth that wrote it. */
  readonly engine: string;
  readonly argocdNamespace: string;
  /** The kinds that the hub serves. */
  readonly kinds: readonly KindInfo[];
  /** Redacted, see `redactObject`; by kind, namespace and name. */
  readonly objects: readonly KubeObject[];
  /** What could not be read. */
  readonly unread: readonly UnreadKind[];
}

/** Objects of one kind that could not be read. */
export interface UnreadKind {
  readonly group: string;
  readonly kind: string;
  readonly problem: string;
}
