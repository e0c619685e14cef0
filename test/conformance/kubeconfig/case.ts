import type { SeenByProxy } from '../../fakes/recording-proxies.ts';
import type { SeenByServer } from '../../../packages/embedded-hub/test/fakes/recording-api-server.ts';

/**
 * One kubeconfig, and what is asked with it. Texts may hold the placeholders of `world.ts`, `${API}` for one. All secrets begin with
 * `s3cret`.
 */
export interface KubeconfigRequestCase {
  readonly name: string;
  readonly cluster?: object;
  readonly user?: object;
  /** Instead of cluster and user: the whole kubeconfig. */
  readonly kubeconfig?: object;
  /** Beside the kubeconfig, by their paths. Those that begin with `#!` may be executed. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * More requests: each kubectl is a new process, while Berth's client goes on, with its clock a minute later. Files are changed before
   * (null: deleted).
   */
  readonly then?: readonly { readonly files: Readonly<Record<string, string | null>> }[];
  /** Part of Berth's error, where kubectl and Berth refuse. */
  readonly says?: string;
  /** Where Berth does something else than kubectl: why, and what. */
  readonly differs?: { readonly because: string; readonly steps: readonly RecordedStep[] };
}

/** What one run of a plugin was given. */
export interface SeenByPlugin {
  readonly command: string;
  readonly args: readonly string[];
  readonly variable: string;
  /** KUBERNETES_EXEC_INFO. */
  readonly info: unknown;
}

/** What came of one request. */
export interface RecordedStep {
  readonly requests: readonly SeenByServer[];
  readonly proxies: readonly SeenByProxy[];
  readonly plugins: readonly SeenByPlugin[];
  readonly outcome: 'answered' | 'refused';
  /** What kubectl said, for people who read this. */
  readonly says?: string;
}
