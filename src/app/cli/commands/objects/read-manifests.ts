import type { KubeObject } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { renderProblems } from '../../../terminal/problem-report.ts';

/** All objects of the files in their order; undefined if problems were printed. */
export async function readManifests(
  io: CliIo,
  paths: readonly string[],
): Promise<readonly KubeObject[] | undefined> {
  const { readSourceFolder } = await import('../../../../controllers/sources/reading/read-source-folder.ts');
  const { default: path } = await import('node:path');
  const fleets = [];
  const { requireManifests } = await import('../../../../controllers/sources/manifests/source-content.ts');
  for (const file of paths) {
    const content = await readSourceFolder(path.resolve(io.cwd, file));
    requireManifests([content], file, []);
    fleets.push(content);
  }
  const problems = fleets.flatMap((content) => content.problems);
  io.stderr.write(renderProblems(problems, false));
  return problems.some(({ severity }) => severity === 'error')
    ? undefined
    : fleets.flatMap(({ objects }) => objects.map(({ object }) => object));
}

/**
 * @param subject what the manifests become
 * @throws InputError for manifests that no ManifestWork can have, whatever their size
 */
export async function refuseBadWork(subject: string, manifests: readonly KubeObject[]): Promise<void> {
  const { validateWorkSpec } = await import('@berth/agent/rules/manifests/validate-work');
  const [problem] = validateWorkSpec({ workload: { manifests } }, { limitBytes: Number.POSITIVE_INFINITY });
  if (problem !== undefined)
    throw new InputError(`${problem.field}: ${problem.message}`, { code: problem.code, subject });
}
