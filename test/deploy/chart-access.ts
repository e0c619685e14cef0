import { dump } from 'js-yaml';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { accountHubObjects } from '@berth/access/addon/managed-serviceaccount';
import { hubObjects } from '@berth/access/addon/hub-objects';

const PLACE = { namespace: '{{ .Release.Namespace }}', image: '{{ include "berth.image" . }}' };

/** The managers of access to clusters: what `berth install hub-addon` writes, each under a switch. */
export function chartAccess(): string {
  const addresses = {
    publicUrl: '{{ .Values.proxy.publicUrl }}',
    agentAddress: '{{ .Values.proxy.agentAddress }}',
  };
  const replicas = '{{ .Values.proxy.replicas }}';
  const proxy = documentsOf(hubObjects({ ...PLACE, ...addresses, replicas: 1 })).map((document) =>
    document
      .replace(/^( +)replicas: 1$/m, `$1replicas: ${replicas}`)
      .replace(/^( +- '?--replicas'?\n +- )'1'$/m, `$1'${replicas}'`),
  );
  const accounts = documentsOf(accountHubObjects(PLACE));
  const profiles = documentsOf(accountHubObjects({ ...PLACE, withProfiles: true }));
  const withProfiles = '.Values.accounts.clusterProfiles';
  return [
    '{{- /* Generated from what berth install hub-addon writes: UPDATE_GOLDEN=1 npx vitest run test/deploy. */}}\n',
    guarded('.Values.proxy.enabled', proxy),
    guarded('.Values.accounts.enabled', [
      ...accounts.filter((document) => profiles.includes(document)),
      guarded(withProfiles, without(profiles, accounts)),
      guarded(`not ${withProfiles}`, without(accounts, profiles)),
    ]),
  ].join('');
}

const without = (documents: readonly string[], others: readonly string[]): readonly string[] =>
  documents.filter((document) => !others.includes(document));
const guarded = (condition: string, documents: readonly string[]): string =>
  `{{- if ${condition} }}\n${documents.join('')}{{- end }}\n`;

function documentsOf(objects: readonly KubeObject[]): readonly string[] {
  return objects
    .filter(({ kind }) => kind !== 'ClusterManagementAddOn')
    .map((object) => {
      const text = `---\n${dump(asTemplate(object), { lineWidth: -1, noRefs: true })}`;
      if (object.kind.includes('Role') || object.kind === 'ServiceAccount')
        return object.kind === 'ServiceAccount' ? text : guarded('$.Values.rbac.create', [text]);
      return object.kind === 'Deployment' ? withPodValues(text) : text;
    });
}

/** The manager itself creates the add-on, which Helm must not delete: clusters would lose it. Nor may it delete definitions. */
function asTemplate(object: KubeObject): KubeObject {
  const { kind, metadata } = object;
  if (kind === 'CustomResourceDefinition') {
    const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' };
    return { ...object, metadata: { ...metadata, annotations } };
  }
  if (kind !== 'Service') return object;
  const spec = object['spec'] as object;
  return { ...object, spec: { ...spec, type: '{{ .Values.proxy.service.type }}' } };
}

/** What the values of the chart say of each pod. */
function withPodValues(deployment: string): string {
  return deployment
    .replace(
      /^( +)serviceAccountName: .*\n/m,
      (line, indent: string) =>
        `${line}${indent}{{- with .Values.image.pullSecrets }}\n${indent}imagePullSecrets:\n${indent}  {{- range . }}\n${indent}  - name: {{ . }}\n${indent}  {{- end }}\n${indent}{{- end }}\n` +
        `${indent}securityContext:\n${indent}  {{- toYaml .Values.podSecurityContext | nindent ${indent.length + 2} }}\n`,
    )
    .replace(
      /^( +)image: .*\n/m,
      (line, indent: string) => `${line}${indent}imagePullPolicy: {{ .Values.image.pullPolicy }}\n`,
    );
}
