import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { HUB_KUBECONFIG_SECRET } from '@berth/ocm/registration/names';
import { argoConnectionObjects } from '../../plugin/install/argo-connection.ts';
import { knownResources } from '../../src/app/cli/flags/hub-flags.ts';
import {
  type ControllerSettings,
  flagsBefore,
  hubObjects,
} from '../../src/app/cli/commands/installation/hub-installation.ts';
import { packageVersion } from '../../src/app/cli/commands/version.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { renderAgentRbac, renderCredentialRbac } from '../../src/core/rbac/agent-rbac.ts';
import { withHoldColumns } from '../../src/core/publish/hold-columns.ts';
import { bootstrapObjects } from '../../src/core/registration/install/bootstrap-objects.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { chartAccess } from './chart-access.ts';
import { chartRights } from './chart-rights.ts';
import { type ValueSchema, valueRows, valuesYaml, withFlags } from './chart-values.ts';

export const CHART = 'deploy/chart/berth';
const KUSTOMIZE = 'deploy/kustomize';
const AGAIN = 'UPDATE_GOLDEN=1 npx vitest run test/deploy';
const NAMESPACE = '{{ .Release.Namespace }}';

/** The controllers beside those of OCM: they follow a repository and answer Argo CD. */
export const BESIDE_OCM: ControllerSettings = {
  flags: [
    '--repo=https://git.example.org/fleet.git',
    '--ref=main',
    '--data=/var/lib/berth',
    '--listen=0.0.0.0:8443',
    '--tls-cert=/etc/berth/berth-tls/tls.crt',
    '--tls-key=/etc/berth/berth-tls/tls.key',
    '--token-file=/etc/berth/berth-tokens/tokens.yaml',
    // A fixed name stays the same when sources are added.
    '--leader-elect-resource-name=berth-fleet',
  ],
  secrets: ['berth-tls', 'berth-tokens'],
};

/** The files of `deploy` that follow from what `berth init` and its neighbours write: text by path. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const schema = chartSchema();
  const definitions = withHoldColumns(ocmCrds()) as unknown as readonly KubeObject[];
  const first = { flags: flagsBefore(undefined, true), secrets: [] };
  return new Map([
    [`${CHART}/values.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`],
    [`${CHART}/values.yaml`, valuesYaml(schema)],
    [`${CHART}/README.md`, readme(schema)],
    [`${CHART}/files/kinds.json`, `${JSON.stringify(Object.fromEntries(knownResources()), undefined, 1)}\n`],
    ...['alerts.yaml', 'dashboard.json'].map((name): [string, string] => [
      `${CHART}/files/${name}`,
      readFileSync(join('deploy/observability', name), 'utf8'),
    ]),
    [`${CHART}/templates/rbac.yaml`, chartRights()],
    [`${CHART}/templates/agent-rbac.yaml`, agentRights()],
    [`${CHART}/templates/bootstrap.yaml`, bootstrap()],
    [`${CHART}/templates/connection.yaml`, connection()],
    [`${CHART}/templates/access.yaml`, chartAccess()],
    ...definitions.map((crd): [string, string] => [`${CHART}/crds/${crd.metadata.name}.yaml`, yaml(crd)]),
    [`${KUSTOMIZE}/base/objects.yaml`, await installed(first)],
    [`${KUSTOMIZE}/beside-ocm/objects.yaml`, await installed(BESIDE_OCM)],
  ]);
}

/** The schema on the disk, with the flags of the programs as they are. */
export function chartSchema(): ValueSchema {
  return withFlags(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as ValueSchema);
}

const yaml = (object: object): string => dump(object, { lineWidth: -1, noRefs: true });
const generated = (from: string): string => `{{- /* Generated from ${from}: ${AGAIN}. */}}\n`;
const documents = (objects: readonly object[]): string =>
  objects.map((object) => `---\n${yaml(object)}`).join('');

function bootstrap(): string {
  // OCM's operator may live there.
  const objects = bootstrapObjects().map((object) =>
    object.kind === 'Namespace'
      ? { ...object, metadata: { ...object.metadata, annotations: { 'helm.sh/resource-policy': 'keep' } } }
      : object,
  );
  const isWanted =
    '{{- if and .Values.controller.enabled .Values.bootstrap.enabled (not .Values.hub.enabled) }}\n';
  return `${generated('what berth init writes')}${isWanted}${documents(objects)}{{- end }}\n`;
}

function connection(): string {
  const objects = argoConnectionObjects({
    namespace: '{{ .Values.connection.namespace }}',
    name: 'berth',
    baseUrl: '{{ lower (include "berth.scheme" .) }}://berth.berth-system.svc:{{ include "berth.port" . }}',
    token: undefined,
  }).map((object) => {
    if (object.kind !== 'ConfigMap' || object.metadata.name !== 'berth') return object;
    const data = { ...(object['data'] as object), token: '${{ .Values.connection.tokenSecret }}:token' };
    return { ...object, data };
  });
  return `${generated('what berth argocd install writes')}{{- if .Values.connection.enabled }}\n${documents(objects)}{{- end }}\n`;
}

/** The rights of the agent: of one that runs on its cluster, and the few of a hosted one. */
function agentRights(): string {
  const registers = { secret: { namespace: NAMESPACE, name: HUB_KUBECONFIG_SECRET } };
  const duties = { clusterName: '', namespace: NAMESPACE, registers, side: 'managed' } as const;
  const hosted = documentsIn(renderCredentialRbac(NAMESPACE, HUB_KUBECONFIG_SECRET));
  const always = documentsIn(renderAgentRbac({ ...duties, executorCache: false }));
  const own = documentsIn(renderAgentRbac({ ...duties, executorCache: true }));
  const subjects = [{ kind: 'ServiceAccount', name: 'berth-agent', namespace: NAMESPACE }];
  const admin = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'berth-agent-admin' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects,
  };
  const ofRoles = (document: string): boolean => document.includes('apiVersion: rbac.');
  const text = [...own.filter(ofRoles), `# As OCM’s agent has: what works carry.\n${yaml(admin)}`].map(
    (document) => {
      const needs = [
        ...(hosted.includes(document) ? [] : ['(not .Values.agent.managedKubeconfigSecret)']),
        ...(always.includes(document) || document.includes('berth-agent-admin')
          ? []
          : ['.Values.agent.flags.executorCache']),
      ];
      const body = `---\n${document}`;
      return needs.length === 0 ? body : `{{- if and ${needs.join(' ')} }}\n${body}{{- end }}\n`;
    },
  );
  return `${generated('what berth join writes')}{{- if and .Values.agent.enabled .Values.rbac.create }}\n${text.join('')}{{- end }}\n`;
}

const documentsIn = (text: string): readonly string[] =>
  text.split('---\n').map((document) => (document.endsWith('\n') ? document : `${document}\n`));

/** What `berth init` writes to a hub with nodes, with the reason of each right. */
async function installed(settings: ControllerSettings): Promise<string> {
  const { io, stdout } = makeCliIo();
  await runCli(['serve', ...settings.flags, '--print-rbac'], io);
  const objects = await hubObjects(io, `berth:${await packageVersion()}`, settings);
  const pods = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Service');
  return [
    `# What berth init writes: ${AGAIN}\n`,
    ...(settings === BESIDE_OCM ? [] : [documents(bootstrapObjects())]),
    `---\n${stdout()}`,
    documents(pods),
  ].join('');
}

function readme(schema: ValueSchema): string {
  return `# Chart of Berth

Generated from \`values.schema.json\`: \`${AGAIN}\`. How to install and upgrade it is in
[docs/install.md](../../../docs/install.md).

\`\`\`
helm install berth deploy/chart/berth --namespace berth-system --create-namespace
\`\`\`

With its default values the chart is what \`berth init\` writes. Objects have fixed names, because a hub
has one Berth: Helm refuses to install over \`berth init\`, and \`berth init\` leaves what Helm
installed.

${valueRows(schema)}
`;
}
