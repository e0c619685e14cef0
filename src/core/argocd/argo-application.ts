import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';

/** argoproj.io/v1alpha1 Application, as far as Berth reads or writes it. It has no status subresource. */
export interface Application {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: ApplicationSpec | undefined;
  readonly operation?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: ApplicationStatus | undefined;
}

export type ApplicationSpec = Readonly<Record<string, unknown>> & {
  readonly destination?: Readonly<Record<string, unknown>> | undefined;
};

export interface ApplicationStatus {
  readonly health?:
    | {
        readonly status?: string | undefined;
        /** RFC 3339 */
        readonly lastTransitionTime?: string | undefined;
      }
    | undefined;
  readonly sync?:
    | {
        readonly status?: string | undefined;
        readonly revision?: string | undefined;
        /** `source` or `sources`, and `destination`, that the status is of. */
        readonly comparedTo?: Readonly<Record<string, unknown>> | undefined;
      }
    | undefined;
  readonly operationState?: ApplicationOperationState | undefined;
  /** When Argo CD compared it with the newest version of its source, RFC 3339. */
  readonly reconciledAt?: string | undefined;
  readonly conditions?: readonly ApplicationCondition[] | undefined;
}

export interface ApplicationOperationState {
  readonly operation?: object | undefined;
  /** Running, Terminating, Succeeded, Failed or Error. */
  readonly phase?: string | undefined;
  /** RFC 3339 */
  readonly startedAt?: string | undefined;
  /** RFC 3339 */
  readonly finishedAt?: string | undefined;
  readonly message?: string | undefined;
}

export interface ApplicationCondition {
  readonly type: string;
  readonly message: string;
  /** RFC 3339 */
  readonly lastTransitionTime?: string | undefined;
}

export function asApplication(object: KubeObject): Application {
  return object;
}
