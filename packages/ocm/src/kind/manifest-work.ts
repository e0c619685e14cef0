import type { Condition, KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';

/** work.open-cluster-management.io/v1; its namespace is the name of the managed cluster. */
export interface ManifestWork {
  readonly apiVersion: string;
  readonly kind: 'ManifestWork';
  readonly metadata: ObjectMeta;
  readonly spec?: ManifestWorkSpec | undefined;
  readonly status?: ManifestWorkStatus | undefined;
}

export interface ManifestWorkSpec {
  readonly workload?: { readonly manifests?: readonly KubeObject[] | undefined } | undefined;
  readonly deleteOption?: DeleteOption | undefined;
  readonly manifestConfigs?: readonly ManifestConfig[] | undefined;
  readonly executor?: { readonly subject: ExecutorSubject } | undefined;
}

export interface DeleteOption {
  /** Absent: Foreground. */
  readonly propagationPolicy?: 'Foreground' | 'Orphan' | 'SelectivelyOrphan' | undefined;
  readonly selectivelyOrphans?:
    | { readonly orphaningRules?: readonly ResourceIdentifier[] | undefined }
    | undefined;
  readonly ttlSecondsAfterFinished?: number | undefined;
}

/** `resource` is the plural name. In manifestConfigs, name and namespace may hold `*`. */
export interface ResourceIdentifier {
  readonly group?: string | undefined;
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface ManifestConfig {
  readonly resourceIdentifier: ResourceIdentifier;
  readonly feedbackRules?: readonly FeedbackRule[] | undefined;
  readonly updateStrategy?: UpdateStrategy | undefined;
  readonly conditionRules?: readonly ConditionRule[] | undefined;
  readonly feedbackScrapeType?: 'Poll' | 'Watch' | undefined;
}

export interface FeedbackRule {
  readonly type: 'WellKnownStatus' | 'JSONPaths';
  readonly jsonPaths?: readonly FeedbackJsonPath[] | undefined;
}

export interface FeedbackJsonPath {
  readonly name: string;
  /** kubectl JSONPath without the braces. */
  readonly path: string;
  readonly version?: string | undefined;
}

export interface UpdateStrategy {
  readonly type: 'Update' | 'CreateOnly' | 'ServerSideApply' | 'ReadOnly';
  readonly serverSideApply?: ServerSideApplyConfig | undefined;
}

export interface ServerSideApplyConfig {
  readonly force?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly ignoreFields?: readonly IgnoreField[] | undefined;
}

export interface IgnoreField {
  readonly condition: 'OnSpokePresent' | 'OnSpokeChange';
  readonly jsonPaths?: readonly string[] | undefined;
  readonly jsonPointers?: readonly string[] | undefined;
  readonly jqPathExpressions?: readonly string[] | undefined;
}

export interface ConditionRule {
  readonly condition: string;
  readonly type: 'WellKnownConditions' | 'CEL';
  readonly celExpressions?: readonly string[] | undefined;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
}

export interface ExecutorSubject {
  readonly type: string;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string } | undefined;
}

export interface ManifestWorkStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly resourceStatus?: { readonly manifests?: readonly ManifestCondition[] | undefined } | undefined;
}

export interface ManifestCondition {
  readonly resourceMeta: ManifestResourceMeta;
  readonly statusFeedback?: { readonly values?: readonly FeedbackValue[] | undefined } | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** `ordinal` is the index in spec.workload.manifests; `namespace` is '' for cluster-scoped resources. */
export interface ManifestResourceMeta {
  readonly ordinal: number;
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly resource?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface FeedbackValue {
  readonly name: string;
  readonly fieldValue: FieldValue;
}

export interface FieldValue {
  readonly type: 'Integer' | 'String' | 'Boolean' | 'JsonRaw';
  /** bigint only beyond 2^53, and only where numbers are read exactly. */
  readonly integer?: number | bigint | undefined;
  readonly string?: string | undefined;
  readonly boolean?: boolean | undefined;
  readonly jsonRaw?: string | undefined;
}

/** Finalizer that the work agent holds on a ManifestWork. */
export const MANIFEST_WORK_FINALIZER = 'cluster.open-cluster-management.io/manifest-work-cleanup';
