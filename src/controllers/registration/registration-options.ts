import type { AutoAcceptance } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { RegistrationEvent } from '../../core/registration/duties.ts';
import type { HubControllerOptions } from '@berth/kube/controller/cached-controller';

/** Of leases, certificate requests and RBAC objects the cache keeps those that carry the label of a cluster. */
export interface RegistrationOptions extends HubControllerOptions {
  readonly autoAcceptance: AutoAcceptance;
  /**
   * The placements that Berth decides: those with its annotation, all, or none. A cluster that is being deleted keeps what runs
   * on it while one of them selects it. Default: none.
   */
  readonly decides?: 'own' | 'all' | 'none' | undefined;
  /** Why works of pulled Applications on the cluster must stay. Default: none do. */
  readonly holdsOfPull?: ((cluster: string) => readonly string[]) | undefined;
  readonly onEvent?: ((event: RegistrationEvent) => void) | undefined;
}
