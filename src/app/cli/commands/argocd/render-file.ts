import { isObject } from '@berth/runtime/json/json-value';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ApplicationJson } from '@berth/applicationset/application-renderer';
import { NotRendered } from '@berth/applicationset/failure/failures';
import { type Generated, generateApplications } from '@berth/applicationset/generate-applications';
import type { GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import { reconcile } from '@berth/applicationset/reconcile/reconcile';
import { RENDERED_VERSION, versionNotes } from '@berth/applicationset/version-notes';
import { CONFIG_MAP, type KindInfo, PLACEMENT_DECISION, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import { leavesOut } from '@berth/runtime/problem/problem';
import { printableText } from '@berth/runtime/text/printable';
import { berthPluginResponses, objectInputs } from '../../../generator-inputs/object-inputs.ts';
import { planInputs } from '../../../generator-inputs/plan-inputs.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { renderDocument, renderTextTable, type OutputFormat } from '../../../terminal/output-format.ts';
import { messageLines } from '../../../terminal/terminal-output.ts';
import { isHubRequested, withHub, type HubFlags } from '../../flags/hub-flags.ts';
import { wrongValue } from '../../flags/option-values.ts';

/** The options of `berth argocd render`. */
export interface RenderOptions extends HubFlags {
  readonly hub: boolean;
  readonly repo?: string;
  readonly cases: boolean;
  readonly argocdNamespace: string;
  readonly argocdVersion?: string;
  readonly output: OutputFormat;
}

/**
 * Renders the ApplicationSets of a file and prints their Applications; errors are printed to
 * stderr.
 */
export async function renderFile(io: CliIo, file: string, options: RenderOptions): Promise<ExitCode> {
  const objects = await readFileObjects(path.resolve(io.cwd, file), file);
  const sets = objects.filter(({ kind }) => kind === 'ApplicationSet');
  if (sets.length === 0)
    throw new InputError('the file has no ApplicationSet', { code: 'argocd.render.file', subject: file });
  const own = objects.filter(({ kind }) => kind !== 'ApplicationSet');
  const version = versionOf(options);
  const inputs = await openInputs(io, own, options);
  const applications: ApplicationJson[] = [];
  let failed = 0;
  for (const set of sets) {
    const namespaced = { ...set, metadata: { namespace: options.argocdNamespace, ...set.metadata } };
    const unknown = new Set<string>();
    const seen: GeneratorInputs = { ...inputs, onUnknownCluster: (name) => void unknown.add(name) };
    const result = generate(namespaced as unknown as JsonValue, seen);
    if ('applications' in result) {
      applications.push(...result.applications);
      const error = errorOf(namespaced as unknown as JsonValue, result, {
        inputs,
        isHub: isHubRequested(options),
      });
      if (error !== undefined || unknown.size > 0) failed += 1;
      io.stderr.write(`${error ?? ''}${unknownClusters(set.metadata.name, unknown, inputs.namespace)}`);
    } else {
      failed += 1;
      io.stderr.write(`ApplicationSet ${set.metadata.name}: ${result.reason}: ${result.error}\n`);
    }
    for (const note of versionNotes(set, version))
      io.stderr.write(`ApplicationSet ${set.metadata.name}: ${note}\n`);
  }
  io.stdout.write(await print(applications, options));
  return failed === 0 ? 0 : 1;
}

/** @throws InputError for a version that is none */
function versionOf({ argocdVersion: text }: RenderOptions): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const [, major, minor] = /^v?(\d+)\.(\d+)(\.|$)/.exec(text) ?? [];
  if (minor === undefined) throw wrongValue('--argocd-version', text, 'a version such as 3.5 or v3.6.1');
  return [Number(major), Number(minor)];
}

type Result = Generated | { readonly error: string; readonly reason: 'Berth does not render this' };

function generate(set: JsonValue, inputs: GeneratorInputs): Result {
  try {
    return generateApplications(set, inputs);
  } catch (error) {
    if (error instanceof NotRendered) return { error: error.message, reason: 'Berth does not render this' };
    throw error;
  }
}

/**
 * The error that Argo CD's controller would report. Projects are assumed to exist, and so are
 * clusters if none is known. A hub without cluster Secrets has only its own cluster.
 */
function errorOf(
  set: JsonValue,
  generated: Extract<Generated, { readonly applications: unknown }>,
  { inputs, isHub }: { readonly inputs: GeneratorInputs; readonly isHub: boolean },
): string | undefined {
  const projects = new Set(
    generated.applications.map(({ spec }) => (spec as { readonly project?: string }).project ?? ''),
  );
  const { conditions } = reconcile(set, generated, { inputs, projects });
  const error = conditions.find(({ type, status }) => type === 'ErrorOccurred' && status === 'True');
  const isAssumed = !isHub && inputs.clusters.length === 0;
  if (error === undefined || (error.reason === 'ApplicationValidationError' && isAssumed)) return undefined;
  const { metadata } = set as { readonly metadata: { readonly name?: string } };
  return `ApplicationSet ${metadata.name ?? ''}: Argo CD would report ${error.reason}: ${error.message}\n`;
}

function unknownClusters(set: string, names: ReadonlySet<string>, namespace: string): string {
  if (names.size === 0) return '';
  const list = [...names].sort().join(', ');
  return `ApplicationSet ${set}: Argo CD does not know ${list} (no cluster Secret in namespace ${namespace}), so it makes no Application there\n`;
}

async function print(applications: readonly ApplicationJson[], { output }: RenderOptions): Promise<string> {
  const complete = applications.map((application) => ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    ...application,
  }));
  if (output === 'table')
    return printableText(`${table(applications)}\nRendered as Argo CD ${RENDERED_VERSION} does.\n`);
  if (output === 'json') return renderDocument(complete, 'json');
  const documents = await Promise.all(complete.map((application) => renderDocument(application, 'yaml')));
  return documents.join('---\n');
}

function table(applications: readonly ApplicationJson[]): string {
  const rows = applications.map(({ metadata, spec }) => {
    const { namespace, name } = metadata as { readonly namespace?: string; readonly name?: string };
    const { project, destination } = spec as {
      readonly project?: string;
      readonly destination?: {
        readonly name?: string;
        readonly server?: string;
        readonly namespace?: string;
      };
    };
    const target = destination?.name ?? destination?.server ?? '';
    return [namespace ?? '', name ?? '', project ?? '', target, destination?.namespace ?? ''];
  });
  return renderTextTable(['NAMESPACE', 'NAME', 'PROJECT', 'CLUSTER', 'TARGET'], rows);
}

/**
 * The objects of a YAML file that is to be rendered: ApplicationSets, and what they need.
 * @param full the absolute path
 * @param file the path as the user gave it, for errors
 * @throws InputError when the file cannot be read, or for an object that no API server would store
 */
async function readFileObjects(full: string, file: string): Promise<readonly KubeObject[]> {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new InputError(problem, { code: 'argocd.render.file', subject: file, cause });
  };
  const text = await readFile(full, 'utf8').catch((cause: unknown) =>
    refuse('the file cannot be read', cause),
  );
  const { default: yaml } = await import('js-yaml');
  const { kubectlSchema } = await import('@berth/kube/yaml/kubectl-schema');
  let documents: readonly unknown[];
  try {
    documents = yaml.loadAll(text, null, { schema: kubectlSchema(), filename: file });
  } catch (cause) {
    return refuse(`the file is not YAML: ${(cause as Error).message.split('\n')[0] ?? ''}`, cause);
  }
  const objects = documents.filter((document) => document !== null && document !== undefined);
  for (const [index, object] of objects.entries()) {
    const problem = objectProblem(object);
    if (problem !== undefined) refuse(`${nameOf(object, index)}: ${problem}`);
  }
  return objects as unknown as readonly KubeObject[];
}

function nameOf(object: unknown, index: number): string {
  const { kind, metadata } = isObject(object) ? object : {};
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof kind === 'string' && typeof name === 'string'
    ? `${kind} ${name}`
    : `document ${String(index + 1)}`;
}

function objectProblem(object: unknown): string | undefined {
  if (!isObject(object)) return 'it is not a Kubernetes object';
  const { kind, metadata, data, stringData } = object;
  if (typeof kind !== 'string') return 'kind is missing, or is not a string';
  if (!isObject(metadata) || typeof metadata['name'] !== 'string')
    return 'metadata.name is missing, or is not a string';
  if (kind === 'ConfigMap') return textsProblem('data', data);
  if (kind !== 'Secret') return undefined;
  return textsProblem('data', data, isBase64) ?? textsProblem('stringData', stringData);
}

function textsProblem(
  field: string,
  texts: unknown,
  isValid: (text: string) => boolean = () => true,
): string | undefined {
  if (texts === undefined || texts === null) return undefined;
  if (!isObject(texts)) return `${field} is not a map`;
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value !== 'string') return `${field}.${key} is not a string: got ${JSON.stringify(value)}`;
    if (!isValid(value)) return `${field}.${key} is not base64: put plain text into stringData`;
  }
  return undefined;
}

/** Whether Go's standard decoder accepts the text: it requires padding, and ignores line breaks. */
function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/**
 * The generator inputs from `--repo`, `--hub`, or the file alone. Objects of the file take
 * precedence.
 */
async function openInputs(
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
  const { readOfflineSnapshot } = await import('../../../../controllers/explanations/offline-snapshot.ts');
  const { scheduleAll } = await import('@berth/placement/engine');
  const { withRecordedResults } = await import('@berth/placement/explain/snapshot/recorded-decisions');
  const { countProblems, renderProblems } = await import('../../../terminal/problem-report.ts');
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
  const { readHubSnapshot } = await import('../../../../controllers/explanations/offline-snapshot.ts');
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
