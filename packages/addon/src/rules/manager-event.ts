/** An action of the manager of an add-on on the hub, for logs and metrics. */
export type ManagerEvent =
  | {
      readonly action: 'work-created' | 'work-updated' | 'work-deleted';
      readonly addon: string;
      readonly cluster: string;
    }
  | {
      readonly action: 'certificate-approved' | 'certificate-signed';
      readonly addon: string;
      readonly cluster: string;
      /** Name of the CertificateSigningRequest. */
      readonly request: string;
    };
