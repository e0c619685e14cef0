import { resolve } from 'node:path';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { BerthError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import { printableLines } from '@berth/runtime/text/printable';
import { kindScopes } from '../../../../controllers/previews/members/kind-scopes.ts';
import { hubKinds } from '../../../../controllers/sources/acceptance/hub-kinds.ts';
import { hubRefusals } from '../../../../controllers/sources/acceptance/hub-refusals.ts';
import { checkContents } from '../../../../controllers/sources/manifests/check-content.ts';
import {
  requireManifests,
  type SourceContent,
} from '../../../../controllers/sources/manifests/source-content.ts';
import { formatCount } from '../../../../core/preview/plan-text.ts';
import {
  checkAppliedKinds,
  checkKinds,
  type KindService,
} from '../../../../core/sources/check-applied-kinds.ts';
import type { SourceFinding } from '../../../../core/sources/source-finding.ts';
import { type FetchContext, withFetchedSource } from '../../../settings/fetch-source.ts';
import { readSettings, selectSources } from '../../../settings/read-settings.ts';
import type { SourceSettings } from '../../../settings/source-settings.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, renderDocument } from '../../../terminal/output-format.ts';
import { countProblems, renderProblems } from '../../../terminal/problem-report.ts';
import { messageLines, writePainted } from '../../../terminal/terminal-output.ts';
import { wrongOption } from '../../flags/option-values.ts';
import { type SettingsFlags, withFetchContext } from './settings-sources.ts';

interface ValidatedSource {
  readonly name: string;
  /** Undefined if the source could not be read. */
  readonly commit: string | undefined;
  readonly files: number;
  readonly objects: number;
  readonly problems: readonly Problem[];
}

/**
 * Fetches the sources of a settings file and checks each as the controller would. The failure of one does not stop the
 * others.
 */
export async function validateSources(
  io: CliIo,
  options: SettingsFlags & {
    readonly config: string;
    readonly output: OutputFormat;
    readonly strict: boolean;
    readonly expectKind: readonly string[];
  },
): Promise<ExitCode> {
  const settings = await readSettings(resolve(io.cwd, options.config));
  const chosen = selectSources(settings, options.source, 'all');
  const check = manifestChecks(options.expectKind);
  const read: SourceContent['objects'][number][] = [];
  const checkMoreOf =
    ({ sync, kinds = [] }: SourceSettings) =>
    (objects: SourceContent['objects']): readonly SourceFinding[] =>
      check(objects, sync === 'observe' ? ['*'] : kinds);
  const sources = await withFetchContext(io, options, chosen, (context) =>
    withEachRead(chosen, context, async (results) => {
      const good = results.filter((result) => 'content' in result);
      const problems = await checkContents(
        good.map(({ source, content }) => ({ content, checkMore: checkMoreOf(source) })),
      );
      for (const { content } of good) for (const object of content.objects) read.push(object);
      const ofSource = new Map(good.map(({ source }, at) => [source, problems[at] ?? []]));
      return results.map((result) => validated(result, ofSource.get(result.source) ?? []));
    }),
  );
  const failed = sources.some(({ problems }) =>
    problems.some(({ severity }) => severity === 'error' || options.strict),
  );
  const assumed = await assumedAbout(read);
  if (options.output !== 'table')
    io.stdout.write(await renderDocument({ valid: !failed, sources, assumed }, options.output));
  else {
    for (const source of sources) writeSource(io, source);
    for (const sentence of assumed) io.stdout.write(messageLines('assumed', sentence));
  }
  return failed ? 1 : 0;
}

type ReadResult = { readonly source: SourceSettings } & (
  | { readonly content: SourceContent }
  | { readonly error: BerthError }
);

/** Reads the sources, and keeps all of them open for `use`. */
async function withEachRead<T>(
  [source, ...rest]: readonly SourceSettings[],
  context: FetchContext,
  use: (results: readonly ReadResult[]) => Promise<T>,
): Promise<T> {
  if (source === undefined) return use([]);
  const withRest = (result: ReadResult): Promise<T> =>
    withEachRead(rest, context, (results) => use([result, ...results]));
  let isRead = false;
  try {
    return await withFetchedSource(source, context, (content) => {
      requireManifests([content], `source ${source.name}`, source.paths ?? []);
      isRead = true;
      return withRest({ source, content });
    });
  } catch (error) {
    if (isRead || !(error instanceof BerthError)) throw error;
    return withRest({ source, error });
  }
}

function validated(result: ReadResult, problems: readonly Problem[]): ValidatedSource {
  const { name } = result.source;
  if ('content' in result) {
    const { commit, files, objects } = result.content;
    return { name, commit: commit?.id, files, objects: objects.length, problems };
  }
  const { code, message, hint } = result.error;
  const problem: Problem = { severity: 'error', code, message, hint };
  return { name, commit: undefined, files: 0, objects: 0, problems: [problem] };
}

function writeSource(io: CliIo, { name, commit, files, objects, problems }: ValidatedSource): void {
  const content = `${formatCount(files, 'file')}, ${formatCount(objects, 'object')}`;
  const at = commit === undefined ? 'not read' : `${commit.slice(0, 8)}, ${content}`;
  io.stdout.write(printableLines([`source ${name}: ${at}: ${countProblems(problems)}`]));
  writePainted(io.stdout, renderProblems(problems, io.colour));
}

/**
 * Whether the kind of an object is served on a hub, by CRDs in the manifests and by
 * `--expect-kind`.
 * @param expected `GROUP/KIND`; `/KIND` for the core group
 * @throws InputError for any other form
 */
function servedKinds(
  expected: readonly string[],
): (objects: readonly SourceObject[]) => (object: KubeObject) => KindService {
  for (const kind of expected)
    if (!/^[a-z0-9.-]*\/[A-Za-z0-9]+$/.test(kind))
      throw wrongOption('--expect-kind', `got ${JSON.stringify(kind)}, expected GROUP/KIND`);
  const known = new Set(expected);
  return (sources) => {
    const objects = sources.map(({ object }) => object);
    const scopeOf = kindScopes(sources);
    const kinds = hubKinds(objects);
    return (object) => {
      if (known.has(`${groupVersionOf(object.apiVersion).group}/${object.kind}`)) return 'served';
      const versions = kinds.versionsOf(object);
      if (versions.length > 0) return versions.includes(object.apiVersion) ? 'served' : versions;
      return scopeOf(object) === undefined ? [] : 'served';
    };
  };
}

/**
 * What `berth validate` finds of the objects of one source besides what their files say.
 * @param kinds that the source applies
 */
export function manifestChecks(
  expected: readonly string[],
): (objects: readonly SourceObject[], kinds: readonly string[] | undefined) => readonly SourceFinding[] {
  const servedIn = servedKinds(expected);
  return (objects, kinds) => [
    ...checkKinds(objects, servedIn(objects)),
    ...hubRefusals(objects),
    ...checkAppliedKinds(objects, kinds),
  ];
}

/** What checks of these objects without a hub rest on, one sentence each. */
export async function assumedAbout(objects: readonly SourceObject[]): Promise<readonly string[]> {
  const { assumedSetNotes } = await import('../../../../core/registration/cluster-sets.ts');
  const { snapshotOfObjects } = await import('../../../../core/sources/snapshot-of-objects.ts');
  return assumedSetNotes(snapshotOfObjects(objects, { now: '' }));
}
