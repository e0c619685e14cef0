import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Problem } from '@berth/runtime/problem/problem';
import { closestName } from '@berth/runtime/text/closest-name';
import type { ArgoFacts } from './argo-facts.ts';
import { decisionGenerators } from './generators-in-use.ts';

/** The project of an Application that names none. */
const DEFAULT_PROJECT = 'default';
/** Valid names of projects. Others cannot exist, and must not be part of a suggested command. */
const VALID_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/**
 * Templates with a project that does not exist, for which Argo CD rejects each Application. Names
 * with placeholders are skipped, because they differ per Application. Source: argo-cd
 * `applicationset/controllers/applicationset_controller.go`, validateGeneratedApplications
 */
export function projectProblems({ applicationSets, projects, namespace }: ArgoFacts): readonly Problem[] {
  if (projects === undefined) return [];
  return applicationSets.flatMap((set) => {
    if (decisionGenerators(set).length === 0) return [];
    const name = projectOf(set);
    return name === undefined || projects.has(name)
      ? []
      : [missingProject(set, name, { projects, namespace })];
  });
}

/** Undefined if it differs between the Applications. */
function projectOf({ spec }: KubeObject): string | undefined {
  const { template } = (spec ?? {}) as {
    readonly template?: { readonly spec?: { readonly project?: unknown } };
  };
  const project = template?.spec?.project ?? '';
  if (typeof project !== 'string' || project.includes('{{')) return undefined;
  return project === '' ? DEFAULT_PROJECT : project;
}

function missingProject(
  { metadata: { name, namespace: ownNamespace = '' } }: KubeObject,
  project: string,
  { projects, namespace }: { readonly projects: ReadonlySet<string>; readonly namespace: string },
): Problem {
  const near = closestName(project, projects);
  const path = '/spec/template/spec/project';
  const patch = (value: string): string => JSON.stringify([{ op: 'add', path, value }]);
  const create = VALID_NAME.test(project)
    ? `argocd proj create ${project}, with --src and --dest for what it may use`
    : `kubectl -n ${namespace} get appprojects`;
  return {
    severity: 'error',
    code: 'argocd.project',
    object: `ApplicationSet ${ownNamespace}/${name}`,
    message: `its template names the project ${JSON.stringify(project)}, which does not exist in namespace ${namespace}: Argo CD refuses every Application`,
    hint:
      near === undefined
        ? create
        : `kubectl -n ${ownNamespace} patch applicationset ${name} --type json -p '${patch(near)}'`,
  };
}
