import { IN_CLUSTER_NAME, IN_CLUSTER_SERVER } from '../generators/clusters.ts';
import { isReadableConfig } from '../generators/argo-clusters.ts';
import { quoteAsGo } from '../json/quote-as-go.ts';
import type { GeneratorInputs } from '../inputs/generator-inputs.ts';
import type { ApplicationFields } from './application-fields.ts';

/**
 * The problems that the controller of Argo CD finds in Applications, by name: no name, a name that occurs
 * twice, a project that does not exist, or a destination that is not a cluster of Argo CD. Source:
 * argo-cd applicationset_controller.go, `validateGeneratedApplications`.
 */
export function validateApplications(
  applications: readonly ApplicationFields[],
  {
    applicationSet,
    inputs,
    projects,
  }: { applicationSet: string; inputs: GeneratorInputs; projects: ReadonlySet<string> },
): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  const seen = new Set<string>();
  for (const { name, project, destination } of applications) {
    // Since Argo CD 3.6; before, the API server refused it.
    if (name === '') {
      problems.set(
        name,
        `ApplicationSet ${applicationSet} contains an application with no name; a name must be set in the template's metadata.name or via a templatePatch (generateName is not supported)`,
      );
      continue;
    }
    if (seen.has(name)) {
      problems.set(
        name,
        `ApplicationSet ${applicationSet} contains applications with duplicate name: ${name}`,
      );
      continue;
    }
    seen.add(name);
    const problem = projects.has(project)
      ? destinationProblem(destination, inputs)
      : `application references project ${project} which does not exist`;
    if (problem !== undefined) problems.set(name, problem);
  }
  return problems;
}

function destinationProblem(
  { server, name }: ApplicationFields['destination'],
  inputs: GeneratorInputs,
): string | undefined {
  const problem = clusterProblem(server, name, inputs);
  return problem === undefined ? undefined : `application destination spec is invalid: ${problem}`;
}

function clusterProblem(server: string, name: string, { clusters }: GeneratorInputs): string | undefined {
  const known = clusters
    .filter(({ config }) => isReadableConfig(config))
    .map((cluster) => ({ name: cluster.name ?? '', server: trimSlashes(cluster.server ?? '') }));
  if (server !== '' && name !== '')
    return `application destination can't have both name and server defined: ${name} ${server}`;
  if (server !== '') {
    const address = trimSlashes(server);
    if (address === IN_CLUSTER_SERVER || known.some((cluster) => cluster.server === address))
      return undefined;
    return `error getting cluster by server ${quoteAsGo(server)}: rpc error: code = NotFound desc = cluster ${quoteAsGo(address)} not found`;
  }
  if (name === '') return 'Destination server missing from app spec';
  const servers = known.filter((cluster) => cluster.name === name).map((cluster) => cluster.server);
  if (servers.length === 0)
    return name === IN_CLUSTER_NAME ? undefined : `there are no clusters with this name: ${name}`;
  if (servers.length === 1) return undefined;
  return `there are ${String(servers.length)} clusters with the same name: [${servers.join(' ')}]`;
}

function trimSlashes(address: string): string {
  return address.replace(/\/+$/, '');
}
