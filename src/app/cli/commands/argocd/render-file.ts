import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { printableText } from '@berth/runtime/text/printable';
import type { ApplicationJson } from '@berth/applicationset/application-renderer';
import { NotRendered } from '@berth/applicationset/failure/failures';
import { type Generated, generateApplications } from '@berth/applicationset/generate-applications';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import { reconcile } from '@berth/applicationset/reconcile/reconcile';
import type { GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import { RENDERED_VERSION, versionNotes } from '@berth/applicationset/version-notes';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { renderDocument } from '../../../terminal/output-format.ts';
import { renderTextTable } from '../../../terminal/text-table.ts';
import { isHubRequested } from '../../flags/hub-flags.ts';
import { wrongValue } from '../../flags/wrong-option.ts';
import { readFileObjects } from './read-file-objects.ts';
import type { RenderOptions } from './inputs/render-options.ts';
import { openInputs } from './inputs/open-inputs.ts';

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
