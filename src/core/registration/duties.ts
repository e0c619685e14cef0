/**
 * The registration controllers of the hub. OCM's registration controller has all of them, and can run each instead of
 * Berth.
 */
export const DUTIES = ['acceptance', 'approval', 'health', 'taints', 'sets', 'cleanup'] as const;

export type RegistrationDuty = (typeof DUTIES)[number];

/** An action of a registration controller on the hub, for logs and metrics. */
export type RegistrationEvent =
  | {
      readonly action: 'accepted' | 'accepted-by-rule' | 'denied' | 'clock-out-of-sync' | 'cleaned-up';
      readonly cluster: string;
    }
  | {
      /** A cluster is being deleted, and what runs on it must stay. */
      readonly action: 'deletion-held';
      readonly cluster: string;
      readonly explanation: string;
    }
  | {
      readonly action: 'unreachable';
      readonly cluster: string;
      /**
       * The time when the grace period of the agent ended, before the hub reported it: milliseconds since the epoch.
       */
      readonly gaveUpAtMs: number;
    }
  | {
      readonly action: 'certificate-approved';
      readonly cluster: string;
      /** Name of the CertificateSigningRequest. */
      readonly request: string;
      readonly by: 'renewal' | 'rule';
    };
