/** One kubectl command of the battery, and what it must say. */
export interface KubectlStep {
  /** The command line after `kubectl`, split at blanks; `'…'` keeps blanks together. */
  readonly run: string;
  readonly stdin?: string;
  /** Every pattern must be found in stdout. */
  readonly out?: readonly (string | RegExp)[];
  /** None of these may be found in stdout. */
  readonly without?: readonly string[];
  /** The command must fail and say this on stderr. */
  readonly fails?: string | RegExp;
  /** Exit code when it is neither 0 nor any failure: `diff` answers 1 for "differs". */
  readonly exitCode?: number;
  /** Must be found on stderr of a command that succeeds. */
  readonly err?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Run beside it, once it watches. */
  readonly meanwhile?: string;
}

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "registry.example.com/web:1", ports: [{containerPort: 8080}]}
`;

const CONFIG = (value: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team}
data: {mode: "${value}", other: keep}
`;

const WIDGET_CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 0, description: how large}
              colour: {type: string, default: blue, enum: [blue, red]}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`;

const WIDGET = (name: string, spec: string): string =>
  `apiVersion: example.com/v1
kind: Widget
metadata: {name: ${name}, namespace: team}
spec: ${spec}
`;

const PLACEMENT = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: frontend, namespace: team}
spec: {numberOfClusters: 2, predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}]}
`;

const MANAGED_CLUSTER = `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: east, labels: {env: prod}}
spec: {hubAcceptsClient: true}
`;

/** Discovery, and objects made by generators. */
const BASICS: readonly KubectlStep[] = [
  { run: 'version', out: ['Server Version: v1.36'] },
  { run: 'version -o json', out: ['"serverVersion"'] },
  { run: 'api-versions', out: ['apps/v1', 'cluster.open-cluster-management.io/v1beta1', /^v1$/m] },
  { run: 'api-resources', out: [/configmaps +cm +v1 +true +ConfigMap/, 'managedclusters', 'deployments'] },
  {
    run: 'api-resources --namespaced=false -o name',
    out: ['namespaces', 'managedclusters.cluster.open-cluster-management.io'],
  },
  {
    run: 'api-resources --api-group=work.open-cluster-management.io -o wide',
    out: ['manifestworks', 'create,delete'],
  },
  { run: 'get --raw /livez', out: ['ok'] },
  { run: 'get --raw /openapi/v3', out: ['apis/apps/v1'] },
  { run: 'cluster-info', out: ['control plane'] },
  { run: 'create namespace team', out: ['namespace/team created'] },
  { run: 'create namespace team', fails: 'already exists' },
  { run: 'create configmap plain -n team --from-literal=a=b', out: ['created'] },
  { run: 'create secret generic pass -n team --from-literal=password=hidden', out: ['created'] },
  { run: 'create serviceaccount robot -n team', out: ['created'] },
  { run: 'create role reader -n team --verb=get,list --resource=configmaps', out: ['created'] },
  {
    run: 'create rolebinding robot-reads -n team --role=reader --serviceaccount=team:robot',
    out: ['created'],
  },
  { run: 'create clusterrole cluster-reader --verb=get,list --resource=managedclusters', out: ['created'] },
  {
    run: 'create clusterrolebinding robot-clusters --clusterrole=cluster-reader --serviceaccount=team:robot',
    out: ['created'],
  },
  { run: 'create quota limits -n team --hard=configmaps=10', out: ['created'] },
  { run: 'create service clusterip web -n team --tcp=80:8080', out: ['created'] },
  { run: 'create job once -n team --image=registry.example.com/job:1', out: ['created'] },
  {
    run: "create cronjob often -n team --image=registry.example.com/job:1 --schedule='*/5 * * * *'",
    out: ['created'],
  },
  { run: 'create ingress web -n team --rule=example.com/*=web:80', out: ['created'] },
  { run: 'create priorityclass high --value=1000', out: ['created'] },
  { run: 'create poddisruptionbudget web -n team --selector=app=web --min-available=1', out: ['created'] },
  { run: 'create token robot -n team', out: [/^eyJ/] },
  { run: 'create token robot -n team --duration=1h --audience=other', out: [/^eyJ/] },
  { run: 'create configmap dry -n team --from-literal=a=b --dry-run=server -o name', out: ['configmap/dry'] },
  { run: 'get configmap dry -n team', fails: 'not found' },
];

/** Reading in every form. */
const READING: readonly KubectlStep[] = [
  { run: 'get namespaces', out: [/NAME +STATUS +AGE/, /team +Active/] },
  { run: 'get configmaps -n team', out: [/NAME +DATA +AGE/, /plain +1 /] },
  { run: 'get cm -n team -o wide', out: ['plain'] },
  { run: 'get configmap plain -n team -o yaml', out: ['kind: ConfigMap', 'a: b'] },
  { run: 'get configmap plain -n team -o json', out: ['"kind": "ConfigMap"'] },
  { run: 'get configmap plain -n team -o jsonpath={.data.a}', out: [/^b$/] },
  { run: 'get configmaps -n team -o name', out: ['configmap/plain'] },
  { run: 'get configmaps -n team -o custom-columns=N:.metadata.name,A:.data.a', out: [/plain +b/] },
  { run: 'get configmap plain -n team -o go-template={{.data.a}}', out: [/^b$/] },
  { run: 'get configmaps -A --sort-by=.metadata.name', out: ['kube-root-ca.crt'] },
  {
    run: 'get configmaps -n team --field-selector=metadata.name=plain',
    out: ['plain'],
    without: ['kube-root'],
  },
  { run: 'get configmaps -A --chunk-size=2', out: ['plain', 'extension-apiserver-authentication'] },
  {
    run: 'get configmaps,secrets,serviceaccounts -n team',
    out: ['configmap/plain', 'secret/pass', 'serviceaccount/robot'],
  },
  { run: 'get all -n team', out: ['service/web', 'job.batch/once', 'cronjob.batch/often'] },
  { run: 'get configmaps -n team --show-labels', out: ['LABELS', '<none>'] },
  { run: 'get nothing', fails: "doesn't have a resource type" },
  { run: 'get configmaps -n team -l a==b=c', fails: 'unable to parse requirement' },
  { run: 'describe configmap plain -n team', out: ['Name:', 'plain', 'Data'] },
  { run: 'describe namespace team', out: ['Status:', 'Active', 'Resource Quotas'] },
  { run: 'describe role reader -n team', out: ['configmaps'] },
  { run: 'describe serviceaccount robot -n team', out: ['robot'] },
  { run: 'explain deployment.spec.replicas', out: ['FIELD: replicas', 'integer'] },
  {
    run: 'explain placement.spec --api-version=cluster.open-cluster-management.io/v1beta1',
    out: ['numberOfClusters'],
  },
  { run: 'explain configmap --recursive', out: ['data', 'metadata'] },
];

/** Apply, edit, patch: the ways to change an object. */
const CHANGING: readonly KubectlStep[] = [
  { run: 'apply -f -', stdin: CONFIG('one'), out: ['configmap/settings created'] },
  { run: 'apply -f -', stdin: CONFIG('one'), out: ['configmap/settings unchanged'] },
  { run: 'diff -f -', stdin: CONFIG('two'), exitCode: 1, out: [/-\s+mode: one/, /\+\s+mode: two/] },
  { run: 'apply -f -', stdin: CONFIG('two'), out: ['configmap/settings configured'] },
  { run: 'diff -f -', stdin: CONFIG('two') },
  { run: 'apply view-last-applied configmap/settings -n team', out: ['mode: two'] },
  // The first one takes over what client-side apply owned; changing a value at the same time would be a conflict.
  { run: 'apply --server-side -f -', stdin: CONFIG('two'), out: ['configmap/settings serverside-applied'] },
  { run: 'apply --server-side -f -', stdin: CONFIG('three'), out: ['configmap/settings serverside-applied'] },
  { run: 'get configmap settings -n team -o jsonpath={.data.mode}', out: [/^three$/] },
  {
    run: 'apply --server-side --field-manager=other -f -',
    stdin: CONFIG('four'),
    fails: /conflict with "kubectl"/,
  },
  {
    run: 'apply --server-side --field-manager=other --force-conflicts -f -',
    stdin: CONFIG('four'),
    out: ['serverside-applied'],
  },
  {
    run: 'get configmap settings -n team --show-managed-fields -o yaml',
    out: ['manager: other', 'operation: Apply'],
  },
  { run: 'apply -f -', stdin: DEPLOYMENT, out: ['deployment.apps/web created'] },
  {
    run: 'apply -f - --dry-run=server',
    stdin: DEPLOYMENT.replace('replicas: 2', 'replicas: 3'),
    out: ['configured (server dry run)'],
  },
  {
    run: 'apply -f -',
    stdin: CONFIG('x').replace('settings', 'unknown').replace('\ndata:', '\ndota:'),
    fails: 'unknown field',
  },
  {
    run: `patch deployment web -n team -p '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"registry.example.com/web:2"}]}}}}'`,
    out: ['patched'],
  },
  {
    run: 'get deployment web -n team -o jsonpath={.spec.template.spec.containers[*].image}',
    out: [/^registry.example.com\/web:2$/],
  },
  { run: `patch deployment web -n team --type=merge -p '{"spec":{"paused":true}}'`, out: ['patched'] },
  {
    run: `patch deployment web -n team --type=json -p '[{"op":"remove","path":"/spec/paused"}]'`,
    out: ['patched'],
  },
  {
    run: `patch deployment web -n team --type=json -p '[{"op":"test","path":"/spec/replicas","value":9}]'`,
    fails: /invalid|request/,
  },
  {
    run: `patch deployment web -n team --subresource=status --type=merge -p '{"status":{"observedGeneration":9,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,"conditions":[{"type":"Available","status":"True","reason":"R","message":"m"},{"type":"Progressing","status":"True","reason":"R","message":"m"}]}}'`,
    out: ['patched'],
  },
  { run: 'get deployment web -n team', out: [/web +2\/2/] },
  { run: 'rollout status deployment/web -n team --timeout=240s', out: ['successfully rolled out'] },
  { run: 'wait deployment/web -n team --for=condition=Available --timeout=240s', out: ['condition met'] },
  {
    run: "wait deployment/web -n team --for=jsonpath='{.status.readyReplicas}'=2 --timeout=240s",
    out: ['condition met'],
  },
  { run: 'scale deployment web -n team --replicas=5', out: ['scaled'] },
  { run: 'get deployment web -n team -o jsonpath={.spec.replicas}', out: [/^5$/] },
  { run: 'scale deployment web -n team --replicas=1 --current-replicas=9', fails: 'Expected replicas' },
  { run: 'set image deployment/web -n team main=registry.example.com/web:3', out: ['image updated'] },
  { run: 'set env deployment/web -n team MODE=prod', out: ['env updated'] },
  { run: 'set resources deployment/web -n team --limits=cpu=1', out: ['resource requirements updated'] },
  { run: 'set serviceaccount deployment/web robot -n team', out: ['serviceaccount updated'] },
  { run: 'rollout restart deployment/web -n team', out: ['restarted'] },
  { run: 'rollout pause deployment/web -n team', out: ['paused'] },
  { run: 'rollout resume deployment/web -n team', out: ['resumed'] },
  { run: 'label configmap plain -n team tier=web', out: ['labeled'] },
  { run: 'label configmap plain -n team tier=db', fails: 'already has a value' },
  { run: 'label configmap plain -n team tier=db --overwrite', out: ['labeled'] },
  { run: 'get configmaps -n team -l tier=db', out: ['plain'] },
  { run: 'get configmaps -n team -l tier!=db,other', out: [], err: 'No resources found' },
  { run: "get configmaps -n team -l 'tier in (db,web)' -L tier", out: [/plain +1 +\S+ +db/] },
  { run: 'label configmap plain -n team tier-', out: ['unlabeled'] },
  { run: 'annotate configmap plain -n team note=text', out: ['annotated'] },
  { run: 'annotate configmap plain -n team note-', out: ['annotated'] },
  {
    run: 'edit configmap plain -n team',
    env: { KUBE_EDITOR: 'sed -i s/a:.b/a:\\ edited/' },
    out: ['edited'],
  },
  { run: 'get configmap plain -n team -o jsonpath={.data.a}', out: [/^edited$/] },
  { run: 'replace -f -', stdin: CONFIG('five'), out: ['configmap/settings replaced'] },
  { run: 'replace --force -f -', stdin: CONFIG('six'), out: ['configmap/settings replaced'] },
  { run: 'create -f -', stdin: CONFIG('six'), fails: 'AlreadyExists' },
  { run: 'expose deployment web -n team --port=80 --name=web-exposed', out: ['exposed'] },
  {
    run: 'apply -f -',
    stdin: `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: team}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`,
    out: ['horizontalpodautoscaler.autoscaling/web created'],
  },
  { run: 'get hpa -n team', out: [/web +Deployment\/web/] },
];

/** OCM's kinds and a custom resource. */
const CUSTOM: readonly KubectlStep[] = [
  { run: 'apply -f -', stdin: MANAGED_CLUSTER, out: ['created'] },
  { run: 'get managedclusters', out: [/NAME +HUB ACCEPTED/, /east +true/] },
  { run: 'apply -f -', stdin: PLACEMENT, out: ['created'] },
  { run: 'apply --server-side -f -', stdin: PLACEMENT, out: ['serverside-applied'] },
  { run: 'get placements -n team -o yaml', out: ['numberOfClusters: 2'] },
  { run: 'describe placement frontend -n team', out: ['Number Of Clusters', '2'] },
  {
    run: `patch placement frontend -n team --type=merge -p '{"spec":{"numberOfClusters":"x"}}'`,
    fails: 'must be of type integer',
  },
  { run: 'apply -f -', stdin: WIDGET_CRD, out: ['widgets.example.com created'] },
  { run: 'wait crd/widgets.example.com --for=condition=Established --timeout=240s', out: ['condition met'] },
  { run: 'get crd widgets.example.com', out: ['widgets.example.com'] },
  { run: 'apply -f -', stdin: WIDGET('one', '{size: 3}'), out: ['widget.example.com/one created'] },
  { run: 'get wd -n team', out: [/NAME +SIZE +READY/, /one +3/] },
  { run: 'get widget one -n team -o jsonpath={.spec.colour}', out: [/^blue$/] },
  { run: 'apply -f -', stdin: WIDGET('two', '{size: -1}'), fails: 'greater than or equal to 0' },
  {
    run: 'apply -f -',
    stdin: WIDGET('two', '{size: 1, colour: green}'),
    fails: 'supported values: "blue", "red"',
  },
  {
    run: 'apply -f -',
    stdin: WIDGET('two', '{size: 1, shape: round}'),
    fails: /unknown field "?\.?spec\.shape/,
  },
  { run: 'explain widget.spec.size', out: ['how large', 'integer'] },
  { run: 'scale widget one -n team --replicas=7', out: ['scaled'] },
  { run: 'get all -n team', out: ['widget.example.com/one'] },
  { run: `patch widget one -n team -p '{"spec":{"size":1}}'`, fails: /UnsupportedMediaType|strategic/ },
];

/** Who may do what. */
const ACCESS: readonly KubectlStep[] = [
  { run: 'auth whoami', out: ['admin', 'system:masters'] },
  { run: 'auth can-i delete nodes', out: ['yes'] },
  { run: 'auth can-i --list -n team', out: ['*.*'] },
  { run: 'auth can-i get configmaps -n team --as=system:serviceaccount:team:robot', out: ['yes'] },
  { run: 'auth can-i get secrets -n team --as=system:serviceaccount:team:robot', exitCode: 1, out: ['no'] },
  { run: 'get configmaps -n team --as=system:serviceaccount:team:robot', out: ['plain'] },
  {
    run: 'get secrets -n team --as=system:serviceaccount:team:robot',
    fails: 'cannot list resource "secrets"',
  },
  { run: 'auth can-i list managedclusters --as=nobody --as-group=system:masters', out: ['yes'] },
  {
    run: 'auth reconcile -f -',
    stdin:
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reader, namespace: team}\nrules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]\n',
    out: ['reconciled'],
  },
  { run: 'describe role reader -n team', out: ['secrets'] },
];

/** Events, watches, deletion. */
const ENDING: readonly KubectlStep[] = [
  {
    run: 'create -f -',
    stdin:
      'apiVersion: v1\nkind: Event\nmetadata: {name: seen, namespace: team}\ninvolvedObject: {apiVersion: v1, kind: ConfigMap, name: plain, namespace: team}\nreason: Seen\nmessage: it was seen\ntype: Normal\nsource: {component: test}\n',
    out: ['created'],
  },
  { run: 'events -n team', out: ['Seen', 'it was seen'] },
  { run: 'get events -n team --field-selector=involvedObject.name=plain', out: ['Seen'] },
  { run: 'events --for configmap/plain -n team', out: ['it was seen'] },
  { run: 'get configmaps -n team --watch --request-timeout=2s', out: ['plain'] },
  {
    run: 'wait configmap/plain -n team --for=delete --timeout=240s',
    out: ['condition met'],
    meanwhile: 'delete configmap plain -n team',
  },
  { run: 'delete configmap settings -n team --cascade=foreground', out: ['deleted'] },
  { run: 'delete deployment web -n team --cascade=orphan', out: ['deleted'] },
  { run: 'delete job once -n team --cascade=background', out: ['deleted'] },
  { run: 'delete configmap nothing -n team', fails: 'not found' },
  { run: 'delete configmap nothing -n team --ignore-not-found' },
  { run: 'delete secrets -n team --all', out: ['"pass" deleted'] },
  { run: 'delete services -n team -l app=nothing', out: [] },
  { run: 'delete service web -n team --now', out: ['deleted'] },
  { run: 'delete crd widgets.example.com', out: ['deleted'] },
  { run: 'get widgets -n team', fails: /doesn't have a resource type|could not find/ },
  { run: 'delete placement frontend -n team', out: ['deleted'] },
  { run: 'delete managedcluster east --wait=false', out: ['deleted'] },
  { run: 'delete namespace team', out: ['deleted'] },
  { run: 'get namespace team', fails: 'not found' },
  { run: 'get configmaps -n team', out: [], err: 'No resources found' },
];

export const KUBECTL_BATTERY: readonly (readonly [string, readonly KubectlStep[]])[] = [
  ['basics', BASICS],
  ['reading', READING],
  ['changing', CHANGING],
  ['custom resources', CUSTOM],
  ['access', ACCESS],
  ['ending', ENDING],
];
