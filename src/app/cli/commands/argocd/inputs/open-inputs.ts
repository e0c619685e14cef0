import { CONFIG_MAP, type KindInfo, PLACEMENT_DECISION, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { leavesOut } from '@berth/runtime/problem/problem';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import type { CliIo } from '../../../../terminal/cli-io.ts';
import { isHubRequested, withHub } from '../../../flags/hub-flags.ts';
import { messageLines } from '../../../../terminal/terminal-output.ts';
import type { RenderOptions } from './render-options.ts';
import { berthPluginResponses } from '../../../../generator-inputs/berth-plugin-responses.ts';
import { objectInputs } from '../../../../generator-inputs/object-inputs.ts';
import { planInputs } from '../../../../generator-inputs/plan-inputs.ts';

/**
 * The generator inputs from `--repo`, `--hub`, or the file alone. Objects of the file take
 * precedence.
 */
export async function openInputs(
  io: CliIo,
  own: readonly KubeObject[],
  options: RenderOptions,
): Promise<GeneratorInputs> {
  const { argocdNamespace: namespace, repo } = options;
  if (repo !== undefined) {
    const snapshot = await readRepository(io, repo);
    return planInputs(namespace, snapshot, own);
  }
  if (!isHubRequested(options)) return objectInputs({ namespace, objects: own });
  return withHub(io, options, (hub) => readHub(hub, own, namespace));
}

/** Decides every placement of a folder, as `berth simulate` and the previews do. */
async function readRepository(io: CliIo, folder: string): Promise<Snapshot> {
  const { readOfflineSnapshot } = await import('../../../../../controllers/explanations/offline-snapshot.ts');
  const { scheduleAll } = await import('@berth/placement/schedule-all');
  const { withRecordedResults } = await import('@berth/placement/explain/snapshot/recorded-decisions');
  const { countProblems, renderProblems } = await import('../../../../terminal/problem-report.ts');
  const { snapshot, problems, assumed } = await readOfflineSnapshot(
    { from: folder, now: new Date().toISOString() },
    { cwd: io.cwd, env: io.env, signal: io.signal },
  );
  const errors = problems.filter(({ severity }) => severity === 'error');
  const left = errors.filter(leavesOut);
  if (errors.length > 0) io.stderr.write(renderProblems(errors, false));
  if (left.length > 0) io.stderr.write(`${countProblems(left)}: these objects are left out\n`);
  for (const line of assumed) io.stderr.write(messageLines('assumed', line));
  return withRecordedResults(snapshot, scheduleAll(snapshot));
}

async function readHub(
  hub: KubeApi,
  own: readonly KubeObject[],
  namespace: string,
): Promise<GeneratorInputs> {
  const { readHubSnapshot } = await import('../../../../../controllers/explanations/hub-snapshot.ts');
  const list = async (kind: KindInfo, labelSelector?: string): Promise<readonly KubeObject[]> =>
    (await hub.list(kind, { namespace, labelSelector })).items;
  const [configMaps, clusterSecrets, decisions, snapshot] = await Promise.all([
    list(CONFIG_MAP),
    list(SECRET, 'argocd.argoproj.io/secret-type=cluster'),
    list(PLACEMENT_DECISION),
    readHubSnapshot(hub, new Date().toISOString()),
  ]);
  return objectInputs({
    namespace,
    objects: [...own, ...configMaps, ...clusterSecrets, ...decisions],
    // Secrets with tokens are not read, because Berth's responses are computed locally.
    missingSecret: {},
    callPlugin: berthPluginResponses(snapshot),
  });
}
