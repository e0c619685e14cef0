import type { Clock, Logger } from '../core/ports.ts';
import type { CredentialFiles } from './cluster/given-files.ts';
import type { ConnectionLimitOptions } from './flow/connection-limits.ts';
import type { ServingFiles } from './auth/certificates/given-serving-certificate.ts';
import type { AdmissionCheck } from './write/write-request.ts';

export interface HubOptions {
  /** Everything the hub keeps: keys, tokens, logs. Created with mode 0700; one process at a time. */
  readonly dataDir: string;
  /** Default: loopback and a free port. */
  readonly listen?: { readonly host?: string | undefined; readonly port?: number | undefined } | undefined;
  /** Names of member clusters, served below `/clusters/NAME`. */
  readonly members?: readonly string[] | undefined;
  /** Kinds whose rules go beyond their schemas; the rules of the OCM kinds unless given. */
  readonly admission?: readonly AdmissionCheck[] | undefined;
  /**
   * Fills Secrets of type `kubernetes.io/service-account-token` with tokens of ten years, and accepts such tokens. Off unless given: who
   * may create a Secret gets the rights of every ServiceAccount of its namespace, for as long as the Secret is there.
   */
  readonly legacyTokenSecrets?: boolean | undefined;
  /**
   * false: an API server alone, as test environments start it. Namespaces stay in deletion, nothing is collected, approved
   * certificate requests get no certificate, and namespaces get no ServiceAccount.
   */
  readonly controllers?: boolean | undefined;
  /** Certificates, keys and tokens that others made. */
  readonly given?: GivenFiles | undefined;
  readonly audit?: 'off' | 'writes' | 'all' | undefined;
  /** Connections that may be open: 16,000 in all and 12,000 from one address unless given. */
  readonly connections?: Partial<ConnectionLimitOptions> | undefined;
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** The disk failed: the state of the log is unknown and the process must end. Ends it with code 1 unless given. */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/** Files that installers and test environments give an API server. They count for the hub, not for its members. */
export interface GivenFiles extends CredentialFiles {
  /** What the hub serves with instead of a certificate of its own, PEM. Read again when it changes. */
  readonly serving?: ServingFiles | undefined;
}

export interface RunningHub {
  /** `https://host:port` */
  readonly url: string;
  readonly port: number;
  readonly caPem: string;
  /** Mode 0600; contexts `hub` and one per member, user `admin` in system:masters. */
  readonly adminKubeconfigPath: string;
  /** URL of a member cluster. */
  memberUrl(name: string): string;
  /** Path of a kubeconfig whose current context is that member. */
  memberKubeconfigPath(name: string): string;
  /** Writes snapshots now, dropping old log segments. */
  compact(): Promise<void>;
  /** Ends all streams, writes what is pending, gives up the data directory. */
  close(): Promise<void>;
}
