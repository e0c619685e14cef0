/**
 * The fields of an Application's status and operation, which a templatePatch may set. Source: argo-cd
 * pkg/apis/application/v1alpha1/types.go, v3.6.1; `describeGoTypes` explains the form.
 */
export const APPLICATION_STATUS_FIELDS = {
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
