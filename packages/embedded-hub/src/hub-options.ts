import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { CredentialFiles } from './cluster/api-cluster.ts';
import type { ConnectionLimitOptions } from './flow/connection-limits.ts';
import type { ServingFiles } from './auth/certificates/serving-certificate.ts';
import type { GivenKinds } from './scheme/create-scheme.ts';
import type { AdmissionCheck } from './write/write-request.ts';

export interface HubOptions {
  /** Directory of keys, tokens and logs. Created with mode 0700; used by one process at a time. */
  readonly dataDir: string;
  /** Default: loopback and a free port. */
  readonly listen?: { readonly host?: string | undefined; readonly port?: number | undefined } | undefined;
  /** More names and addresses of the certificate that the hub issues for itself. Default: none. */
  readonly tlsNames?: readonly string[] | undefined;
  /** Names of member clusters, served below `/clusters/NAME`. */
  readonly members?: readonly string[] | undefined;
  /** Kinds besides those of Kubernetes that hub and members serve from the start. Default: none. */
  readonly kinds?: GivenKinds | undefined;
  /** Admission rules of these kinds, beyond schemas. Default: none. */
  readonly admission?: readonly AdmissionCheck[] | undefined;
  /**
   * Fills Secrets of type `kubernetes.io/service-account-token` with tokens of ten years, and
   * accepts such tokens. Default: off, because a user who may create Secrets gets the rights of
   * every ServiceAccount of the namespace while the Secret exists.
   */
  readonly legacyTokenSecrets?: boolean | undefined;
  /**
   * false: only the API server, as test environments start it. Namespaces stay terminating, no
   * garbage is collected, approved certificate requests get no certificate, and namespaces get no
   * ServiceAccount.
   */
  readonly controllers?: boolean | undefined;
  /** Certificates, keys and tokens that the user provides. */
  readonly providedFiles?: ApiServerFiles | undefined;
  readonly audit?: 'off' | 'writes' | 'all' | undefined;
  /** Connections that may be open: 16,000 in all and 12,000 from one address unless given. */
  readonly connections?: Partial<ConnectionLimitOptions> | undefined;
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Called when the disk failed: the state of the log is unknown and the process must end. Default:
   * exit with code 1.
   */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/**
 * Files that installers and test environments pass to an API server. They apply to the hub, not to
 * its members.
 */
export interface ApiServerFiles extends CredentialFiles {
  /**
   * The serving certificate and key to use instead of the hub's own, PEM. Read again when they
   * change.
   */
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
  /** Ends all streams, flushes pending writes, and releases the data directory. */
  close(): Promise<void>;
}
