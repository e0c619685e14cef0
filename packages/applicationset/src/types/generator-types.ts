import { describeGoTypes } from './go-type.ts';
import { APPLICATION_SPEC_FIELDS } from './application-types.ts';

/**
 * The generators of an ApplicationSet that are rendered. Source: argo-cd pkg/apis/application/v1alpha1/applicationset_types.go, v3.6.1;
 * `describeGoTypes` explains the form.
 */
const GENERATOR_FIELDS = {
  ApplicationSet: 'metadata:ApplicationSetMeta spec:ApplicationSetSpec',
  ApplicationSetMeta: 'name?:string namespace?:string',
  ApplicationSetSpec: `goTemplate?:bool generators:[]ApplicationSetGenerator template:ApplicationSetTemplate
    syncPolicy?:*ApplicationSetSyncPolicy goTemplateOptions?:[]string templatePatch?:*string`,
  ApplicationSetSyncPolicy: 'preserveResourcesOnDeletion?:bool applicationsSync?:*string',
  ApplicationSetGenerator: `list?:*ListGenerator clusters?:*ClusterGenerator clusterDecisionResource?:*DuckTypeGenerator
    matrix?:*MatrixGenerator merge?:*MergeGenerator selector?:*LabelSelector plugin?:*PluginGenerator`,
  ApplicationSetNestedGenerator: `list?:*ListGenerator clusters?:*ClusterGenerator clusterDecisionResource?:*DuckTypeGenerator
    matrix?:*json merge?:*json selector?:*LabelSelector plugin?:*PluginGenerator`,
  ApplicationSetTerminalGenerator: `list?:*ListGenerator clusters?:*ClusterGenerator
    clusterDecisionResource?:*DuckTypeGenerator plugin?:*PluginGenerator selector?:*LabelSelector`,
  NestedMatrixGenerator: `generators:ApplicationSetTerminalGenerators=[]ApplicationSetTerminalGenerator`,
  NestedMergeGenerator: `generators:ApplicationSetTerminalGenerators=[]ApplicationSetTerminalGenerator mergeKeys:[]string`,
  ListGenerator: 'elements:[]json template?:ApplicationSetTemplate elementsYaml?:string',
  ClusterGenerator:
    'selector?:LabelSelector template?:ApplicationSetTemplate values?:{}string flatList?:bool',
  DuckTypeGenerator: `configMapRef:string name?:string requeueAfterSeconds?:*int64 labelSelector?:LabelSelector
    template?:ApplicationSetTemplate values?:{}string`,
  PluginGenerator: `configMapRef:PluginConfigMapRef input?:PluginInput requeueAfterSeconds?:*int64
    template?:ApplicationSetTemplate values?:{}string`,
  PluginConfigMapRef: 'name:string',
  PluginInput: 'parameters?:{}json',
  MatrixGenerator: 'generators:[]ApplicationSetNestedGenerator template?:ApplicationSetTemplate',
  MergeGenerator: `generators:[]ApplicationSetNestedGenerator mergeKeys:[]string template?:ApplicationSetTemplate`,
  LabelSelector: 'matchLabels?:{}string matchExpressions?:[]LabelSelectorRequirement',
  LabelSelectorRequirement: 'key:string operator:string values?:[]string',
  ApplicationSetTemplate: 'metadata:ApplicationSetTemplateMeta spec:ApplicationSpec',
  ApplicationSetTemplateMeta:
    'name?:string namespace?:string labels?:{}string annotations?:{}string finalizers?:[]string',
} as const;

const structNamed = describeGoTypes(
  { ...APPLICATION_SPEC_FIELDS, ...GENERATOR_FIELDS },
  { LabelSelector: 'v1', LabelSelectorRequirement: 'v1' },
);

export const APPLICATION_SET = structNamed('ApplicationSet');
export const GENERATOR = structNamed('ApplicationSetGenerator');
/** A matrix or merge in another one. Its children must not be a matrix or merge. */
export const NESTED_MATRIX = structNamed('NestedMatrixGenerator');
export const NESTED_MERGE = structNamed('NestedMergeGenerator');
