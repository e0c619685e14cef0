/** What the hub's side of registration did, for logs and metrics. */
export type RegistrationEvent =
  | {
      readonly action: 'accepted' | 'accepted-by-rule' | 'denied' | 'clock-out-of-sync' | 'cleaned-up';
      readonly cluster: string;
    }
  | {
      readonly action: 'unreachable';
      readonly cluster: string;
      /** When the hub gave up on the agent, before it said so: milliseconds since the epoch. */
      readonly gaveUpAtMs: number;
    }
  | {
      readonly action: 'certificate-approved';
      readonly cluster: string;
      /** Name of the CertificateSigningRequest. */
      readonly request: string;
      readonly by: 'renewal' | 'rule';
    };
