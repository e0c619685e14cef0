import type { ControllerRole, RolePart } from '../../src/core/rbac/controller-roles.ts';
import { CONTROLLER_ROLES, LISTED, PEOPLE_ROLES } from '../../src/core/rbac/controller-roles.ts';
import {
  APPLIED_KIND_PERMISSION,
  partRules,
  PREVIEWED_KIND_PERMISSION,
  roleDocuments,
} from '../../src/core/rbac/controller-rbac.ts';
import { namedRights, renderBinding, renderRole, renderRules } from '../../src/core/rbac/render-role.ts';

/** What a template gets in the place of names that values decide. */
const NAMES = {
  lease: '{{ $lease }}',
  announcement: { lease: 'berth-controller-{{ $lease | sha256sum | trunc 12 }}' },
};
const ARGOCD = '{{ $argocd }}';
const EMBEDDED = '$.Values.serve.embedded';

/** The roles of the controllers and of people, each with a condition on what values turn on. */
export function chartRights(): string {
  return lines(
    '{{- /* Generated from src/core/rbac: UPDATE_GOLDEN=1 npx vitest run test/deploy. */}}',
    '{{- if and .Values.controller.enabled .Values.rbac.create (not .Values.hub.enabled) }}',
    '{{- $on := include "berth.rights" . | fromJson }}',
    '{{- $argocd := .Values.serve.argocdNamespace | default "argocd" }}',
    '{{- $lease := include "berth.lease" . }}',
    ...CONTROLLER_ROLES.flatMap(roleLines),
    ...credentialLines(),
    ...PEOPLE_ROLES.flatMap(roleLines),
    '{{- end }}',
  );
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;

function roleLines(role: ControllerRole): readonly string[] {
  const conditions = role.parts.map(conditionOf);
  const whole = conditions.includes(undefined) ? undefined : either(conditions as string[]);
  const rules = role.parts.flatMap((part) => {
    const condition = conditionOf(part);
    return condition === whole ? ruleLines(part) : guarded(condition, ruleLines(part));
  });
  const documents = roleDocuments(role, { rules, argocdNamespace: ARGOCD });
  return guarded(
    whole,
    documents.flatMap((document) => ['---', ...document]),
  );
}

/** The condition as a template expression; undefined: always. */
function conditionOf({ any, embedded }: RolePart): string | undefined {
  const rights = any && either(any.map((right) => `(hasKey $on "${right}")`));
  if (embedded === undefined) return rights;
  const where = embedded ? EMBEDDED : `(not ${EMBEDDED})`;
  return rights === undefined ? where : `(and ${rights} ${where})`;
}

function either(conditions: readonly string[]): string {
  const different = [...new Set(conditions)];
  return different.length === 1 ? (different[0] ?? '') : `(or ${different.join(' ')})`;
}

const guarded = (condition: string | undefined, body: readonly string[]): readonly string[] =>
  condition === undefined ? body : [`{{- if ${condition} }}`, ...body, '{{- end }}'];

function ruleLines(part: RolePart): readonly string[] {
  if (part.part === LISTED) return listedLines();
  const named = partRules(part, NAMES);
  if (part.names !== 'announcement') return named;
  // Without an election the name of the Lease depends on the machine.
  const unnamed = partRules(part, { announcement: { lease: undefined } });
  return ['{{- if hasKey $on "elects" }}', ...named, '{{- else }}', ...unnamed, '{{- end }}'];
}

function listedLines(): readonly string[] {
  const rule = (permission: typeof APPLIED_KIND_PERMISSION): readonly string[] =>
    renderRules([{ groups: ['{{ .group }}'], resources: ['{{ .resource }}'], ...permission }]);
  return [
    '{{- $previews := include "berth.previews" $ }}',
    '{{- range include "berth.kinds" $ | fromJsonArray }}',
    '{{- if $previews }}',
    ...rule(PREVIEWED_KIND_PERMISSION),
    '{{- else }}',
    ...rule(APPLIED_KIND_PERMISSION),
    '{{- end }}',
    '{{- end }}',
  ];
}

function credentialLines(): readonly string[] {
  const head = { name: 'berth-credentials', namespace: '{{ $namespace }}' };
  const subject = { kind: 'ServiceAccount', name: 'berth', namespace: 'berth-system' } as const;
  const rules = namedRights('secrets', ['{{ join "\', \'" $names }}']);
  return [
    '{{- range $namespace, $names := include "berth.credentials" . | fromJson }}',
    '---',
    '# Secrets with the credentials of sources.',
    ...renderRole({ kind: 'Role', ...head }, rules),
    '---',
    ...renderBinding({ kind: 'RoleBinding', ...head, subjects: [subject] }),
    '{{- end }}',
  ];
}
