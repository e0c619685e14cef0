import type { ManagerEvent } from '@berth/addon/rules/manager-event';

/**
 * What Berth does for add-ons, each a duty that something of OCM can have instead: its add-on manager has `install`, `configuration`,
 * and for add-ons made of templates `deployment` and `registration`; its registration controller has `health`.
 */
export const ADDON_DUTIES = [
  /** ManagedClusterAddOns by placement, their owners and annotations. */
  'install',
  /** References of configurations, their hashes and rollouts; progress. */
  'configuration',
  /** ManifestWorks of templates, their health by feedback. */
  'deployment',
  /** What the agents of add-ons may do at the hub: certificates, tokens, permissions. */
  'registration',
  /** The unknown health of a cluster, passed on to its add-ons; labels of clusters for their add-ons. */
  'health',
] as const;

export type AddOnDuty = (typeof ADDON_DUTIES)[number];

/** An action of the manager of add-ons on the hub, for logs and metrics. */
export type AddOnEvent =
  | ManagerEvent
  | {
      readonly action: 'installed' | 'removed';
      readonly addon: string;
      readonly cluster: string;
    }
  | {
      /** Clusters left the placements of an add-on, and keep it until somebody releases that. */
      readonly action: 'removals-held';
      readonly addon: string;
      readonly clusters: readonly string[];
      readonly message: string;
      readonly token: string;
    };
