/** A certificate and its private key, PEM. */
export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}
