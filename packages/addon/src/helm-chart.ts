import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import {
  annotatedValues,
  chartBuiltIns,
  chartConfigValues,
  jsonValues,
  mergeValues,
} from './rules/values.ts';
import {
  factsOf,
  type GivenValues,
  type ManifestSource,
  parseManifests,
  resolveValues,
} from './sources/rendered-manifests.ts';

export interface HelmChartOptions {
  readonly values?: GivenValues | undefined;
  /** The program. Default: `helm`, found in PATH. */
  readonly program?: string | undefined;
  /** After this time the program is ended. Default: 30 s. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** Of the end of what the program says. */
const MAX_MESSAGE = 2_000;

/**
 * Manifests from a Helm chart in a folder, with its CRDs, as `helm template` makes them: the release has the name of the
 * add-on, its namespace is that in which the add-on is installed, and `.Capabilities.KubeVersion` is that of the
 * cluster. Built in are `clusterName`, `addonInstallNamespace` and `installMode`, and `hubKubeConfigSecret` and
 * `managedKubeConfigSecret`, which others may override. Then count, later ones over earlier ones: the given values,
 * those of the AddOnDeploymentConfig (its variables, `global.nodeSelector`, `tolerations`, `global.proxyConfig` …), the
 * add-on's annotation `addon.open-cluster-management.io/values`.
 *
 * It starts the program `helm` for each rendering, without a shell; `lookup` finds nothing.
 * Source: open-cluster-management.io/addon-framework `pkg/addonfactory/helm_agentaddon.go`.
 * @throws InputError when the folder is no chart; the source: InputError when helm is missing or refuses the chart or
 * a value, TransientError when it does not end in time
 */
export function helmChart(folder: string, options: HelmChartOptions = {}): ManifestSource {
  if (!existsSync(join(folder, 'Chart.yaml')))
    throw new InputError('has no Chart.yaml', { code: 'addon.chart', subject: folder });
  return async (context) => {
    const facts = factsOf(context);
    const { defaults, fixed } = chartBuiltIns(facts);
    const config = chartConfigValues(context.deploymentConfig?.spec ?? {});
    const own = await resolveValues(options.values, context);
    const annotated = annotatedValues(context.addon);
    // Each is checked before they are merged, as addon-framework does.
    const values = mergeValues(...[defaults, own, config, annotated, fixed].map(jsonValues));
    const version = context.cluster.status?.version?.kubernetes;
    const args = [
      ...['template', facts.addon.metadata.name, folder, '--namespace', facts.installNamespace],
      ...['--include-crds', '--values', '-'],
      ...(version ? ['--kube-version', version] : []),
    ];
    const text = await runHelm({ folder, args, input: JSON.stringify(values), ...options }, context.signal);
    return parseManifests(text, folder);
  };
}

interface HelmRun extends HelmChartOptions {
  readonly folder: string;
  readonly args: readonly string[];
  readonly input: string;
}

function runHelm(
  { folder, args, input, program = 'helm', timeoutMs = TIMEOUT_MS }: HelmRun,
  signal: AbortSignal,
): Promise<string> {
  const details = { code: 'addon.chart', subject: folder };
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // Not a signal of both: Node 20 may collect one that times out before it does.
    const limits = {
      signal,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
    } as const;
    const child = execFile(program, args, limits, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (signal.aborted) reject(signal.reason as Error);
      else if (error.code === 'ENOENT')
        reject(
          new InputError(`cannot be rendered, because there is no program ${program}`, {
            ...{ ...details, code: 'addon.helm-missing' },
            hint: 'install helm 3 (https://helm.sh/docs/intro/install), or give its path: helmChart(folder, { program })',
          }),
        );
      else if (error.killed === true && error.signal === 'SIGKILL')
        reject(new TransientError(`helm has not rendered it within ${timeoutMs / 1_000} s`, details));
      else
        reject(
          new InputError(`helm refuses it: ${stderr.trim().slice(-MAX_MESSAGE) || errorText(error)}`, {
            ...details,
            cause: error,
          }),
        );
    });
    // A program that ended, or was never there, does not read.
    child.stdin?.on('error', () => undefined).end(input);
  });
}
