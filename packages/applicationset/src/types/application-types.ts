import { describeGoTypes } from './go-type.ts';

/**
 * The fields of an Application's status and operation, which a templatePatch may set. Source: argo-cd
 * pkg/apis/application/v1alpha1/types.go, v3.6.1; `describeGoTypes` explains the form.
 */
const APPLICATION_STATUS_FIELDS = {
  ApplicationStatus: `resources?:[]ResourceStatus sync?:SyncStatus health?:AppHealthStatus
    history?:RevisionHistories=[]RevisionHistory conditions?:[]ApplicationCondition reconciledAt?:*time
    operationState?:*OperationState observedAt?:*time sourceType?:ApplicationSourceType=string summary?:ApplicationSummary
    resourceHealthSource?:ResourceHealthLocation=string sourceTypes?:[]ApplicationSourceType=string controllerNamespace?:string
    sourceHydrator?:SourceHydratorStatus`,
  ResourceStatus: `group?:string version?:string kind?:string namespace?:string name?:string status?:SyncStatusCode=string
    health?:*HealthStatus hook?:bool requiresPruning?:bool syncWave?:int64 requiresDeletionConfirmation?:bool`,
  SyncStatus: 'status:SyncStatusCode=string comparedTo?:ComparedTo revision?:string revisions?:[]string',
  ComparedTo: `source?:ApplicationSource destination:ApplicationDestination sources?:ApplicationSources=[]ApplicationSource
    ignoreDifferences?:IgnoreDifferences=[]ResourceIgnoreDifferences`,
  AppHealthStatus: 'status?:string message?:string lastTransitionTime?:*time',
  HealthStatus: 'status?:string message?:string lastTransitionTime?:*time',
  RevisionHistory: `revision?:string deployedAt:time id:int64 source?:ApplicationSource deployStartedAt?:*time
    sources?:ApplicationSources=[]ApplicationSource revisions?:[]string initiatedBy?:OperationInitiator`,
  ApplicationCondition: 'type:string message:string lastTransitionTime?:*time',
  OperationState: `operation:Operation phase:string message?:string syncResult?:*SyncOperationResult startedAt:time
    finishedAt?:*time retryCount?:int64`,
  SyncOperationResult: `resources?:ResourceResults=[]*ResourceResult revision:string source?:ApplicationSource
    sources?:ApplicationSources=[]ApplicationSource revisions?:[]string managedNamespaceMetadata?:*ManagedNamespaceMetadata`,
  ResourceResult: `group:string version:string kind:string namespace:string name:string status?:string message?:string
    hookType?:string hookPhase?:string syncPhase?:string images?:[]string`,
  ApplicationSummary: 'externalURLs?:[]string images?:[]string isAppOfApps?:bool',
  SourceHydratorStatus:
    'lastSuccessfulOperation?:*SuccessfulHydrateOperation currentOperation?:*HydrateOperation lastComparedDryRevision?:string',
  SuccessfulHydrateOperation: 'drySHA?:string hydratedSHA?:string sourceHydrator?:SourceHydrator',
  HydrateOperation: `startedAt:time finishedAt?:*time phase:HydrateOperationPhase=string message:string drySHA?:string
    hydratedSHA?:string sourceHydrator?:SourceHydrator`,
  Operation: 'sync?:*SyncOperation initiatedBy?:OperationInitiator info?:[]*Info retry?:RetryStrategy',
  SyncOperation: `revision?:string prune?:bool dryRun?:bool syncStrategy?:*SyncStrategy resources?:[]SyncOperationResource
    source?:*ApplicationSource manifests?:[]string syncOptions?:SyncOptions=[]string
    sources?:ApplicationSources=[]ApplicationSource revisions?:[]string autoHealAttemptsCount?:int64`,
  SyncOperationResource: 'group?:string kind:string name:string namespace?:string',
  SyncStrategy: 'apply?:*SyncStrategyApply hook?:*SyncStrategyHook',
  SyncStrategyApply: 'force?:bool',
  SyncStrategyHook: 'force?:bool',
  OperationInitiator: 'username?:string automated?:bool',
} as const;

/** The fields of an Application's spec. Source: argo-cd pkg/apis/application/v1alpha1/types.go, v3.6.1; `describeGoTypes` explains the form. */
export const APPLICATION_SPEC_FIELDS = {
  ApplicationSpec: `source?:*ApplicationSource destination:ApplicationDestination project:string syncPolicy?:*SyncPolicy
    ignoreDifferences?:IgnoreDifferences=[]ResourceIgnoreDifferences info?:[]Info revisionHistoryLimit?:*int64
    sources?:ApplicationSources=[]ApplicationSource sourceHydrator?:*SourceHydrator`,
  ApplicationSource: `repoURL:string path?:string targetRevision?:string helm?:*ApplicationSourceHelm
    kustomize?:*ApplicationSourceKustomize directory?:*ApplicationSourceDirectory plugin?:*ApplicationSourcePlugin chart?:string
    ref?:string name?:string tagPrefix?:string`,
  ApplicationDestination: 'server?:string namespace?:string name?:string',
  ApplicationSourceHelm: `valueFiles?:[]string parameters?:[]HelmParameter releaseName?:string values?:string
    fileParameters?:[]HelmFileParameter version?:string passCredentials?:bool ignoreMissingValueFiles?:bool skipCrds?:bool
    valuesObject?:*raw namespace?:string kubeVersion?:string apiVersions?:[]string skipTests?:bool skipSchemaValidation?:bool`,
  HelmParameter: 'name?:string value?:string forceString?:bool',
  HelmFileParameter: 'name?:string path?:string',
  ApplicationSourceKustomize: `namePrefix?:string nameSuffix?:string images?:KustomizeImages=[]KustomizeImage=string
    commonLabels?:{}string version?:string commonAnnotations?:{}string forceCommonLabels?:bool forceCommonAnnotations?:bool
    namespace?:string commonAnnotationsEnvsubst?:bool replicas?:KustomizeReplicas=[]KustomizeReplica
    patches?:KustomizePatches=[]KustomizePatch components?:[]string ignoreMissingComponents?:bool labelWithoutSelector?:bool
    kubeVersion?:string apiVersions?:[]string labelIncludeTemplates?:bool`,
  KustomizeReplica: 'name:string count:intOrString',
  KustomizePatch: 'path?:string patch?:string target?:*KustomizeSelector options?:{}bool',
  KustomizeSelector:
    'group?:string version?:string kind?:string name?:string namespace?:string annotationSelector?:string labelSelector?:string',
  ApplicationSourceDirectory: `recurse?:bool jsonnet!:ApplicationSourceJsonnet exclude?:string include?:string
    disableExtensionFilter?:bool`,
  ApplicationSourceJsonnet: 'extVars?:[]JsonnetVar tlas?:[]JsonnetVar libs?:[]string',
  JsonnetVar: 'name:string value:string code?:bool',
  ApplicationSourcePlugin: `name?:string env?:Env=[]*EnvEntry
    parameters?:ApplicationSourcePluginParameters=[]ApplicationSourcePluginParameter`,
  EnvEntry: 'name:string value:string',
  // Argo CD writes the name, and a map or list that is empty, too.
  ApplicationSourcePluginParameter: 'name:string string?:*string map?:*{}string array?:*[]string',
  SyncPolicy: `automated?:*SyncPolicyAutomated syncOptions?:SyncOptions=[]string retry?:*RetryStrategy
    managedNamespaceMetadata?:*ManagedNamespaceMetadata`,
  SyncPolicyAutomated: 'prune?:*bool selfHeal?:*bool allowEmpty?:*bool enabled?:*bool',
  RetryStrategy: 'limit?:int64 backoff?:*Backoff refresh?:bool',
  Backoff: 'duration?:string factor?:*int64 maxDuration?:string',
  ManagedNamespaceMetadata: 'labels?:{}string annotations?:{}string',
  ResourceIgnoreDifferences: `group?:string kind:string name?:string namespace?:string jsonPointers?:[]string
    jqPathExpressions?:[]string managedFieldsManagers?:[]string`,
  Info: 'name:string value:string',
  SourceHydrator: 'drySource:DrySource syncSource:SyncSource hydrateTo?:*HydrateTo',
  DrySource: `repoURL:string targetRevision:string path:string helm?:*ApplicationSourceHelm
    kustomize?:*ApplicationSourceKustomize directory?:*ApplicationSourceDirectory plugin?:*ApplicationSourcePlugin`,
  SyncSource: 'targetBranch:string path:string repoURL?:string',
  HydrateTo: 'targetBranch:string',
} as const;

const META_FIELDS = {
  Application: `kind?:string apiVersion?:string metadata:ObjectMeta spec:ApplicationSpec status!:ApplicationStatus
    operation?:*Operation`,
  ObjectMeta: `name?:string generateName?:string namespace?:string selfLink?:string uid?:string resourceVersion?:string
    generation?:int64 creationTimestamp!:time deletionTimestamp?:*time deletionGracePeriodSeconds?:*int64 labels?:{}string
    annotations?:{}string ownerReferences?:[]OwnerReference+uid finalizers?:[]string+ managedFields?:[]ManagedFieldsEntry`,
  OwnerReference:
    'apiVersion:string kind:string name:string uid:string controller?:*bool blockOwnerDeletion?:*bool',
  ManagedFieldsEntry:
    'manager?:string operation?:string apiVersion?:string time?:*time fieldsType?:string fieldsV1?:*raw subresource?:string',
  ApplicationSetTemplate: 'metadata:ApplicationSetTemplateMeta spec:ApplicationSpec',
  ApplicationSetTemplateMeta:
    'name?:string namespace?:string labels?:{}string annotations?:{}string finalizers?:[]string',
} as const;

const META_PACKAGES = { ObjectMeta: 'v1', OwnerReference: 'v1', ManagedFieldsEntry: 'v1' };

const structNamed = describeGoTypes(
  { ...APPLICATION_SPEC_FIELDS, ...APPLICATION_STATUS_FIELDS, ...META_FIELDS },
  META_PACKAGES,
);

export const APPLICATION = structNamed('Application');
/** The `template` of an ApplicationSet and of a generator. */
export const TEMPLATE = structNamed('ApplicationSetTemplate');
