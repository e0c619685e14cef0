import { resolve } from 'node:path';
import { BerthError } from '@berth/runtime/errors';
import { printableLines } from '@berth/runtime/text/printable';
import type { Problem } from '@berth/runtime/problem/problem';
import { formatCount } from '../../../../core/preview/plan-text.ts';
import { checkAppliedKinds } from '../../../../core/sources/check-applied-kinds.ts';
import { checkKinds } from '../../../../core/sources/check-kinds.ts';
import type { SourceFinding } from '../../../../core/sources/source-finding.ts';
import { hubRefusals } from '../../../../controllers/sources/acceptance/hub-refusals.ts';
import { checkContent } from '../../../../controllers/sources/manifests/check-content.ts';
import type { SourceContent } from '../../../../controllers/sources/manifests/source-content.ts';
import { requireManifests } from '../../../../controllers/sources/manifests/require-manifests.ts';
import { selectSources } from '../../../settings/select-sources.ts';
import { type FetchContext, withFetchedSource } from '../../../settings/fetch-source.ts';
import { readSettings } from '../../../settings/read-settings.ts';
import type { SourceSettings } from '../../../settings/source-settings.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { assumedAbout } from './assumed-about.ts';
import { servedKinds } from './expected-kinds.ts';
import { type OutputFormat, renderDocument } from '../../../terminal/output-format.ts';
import { countProblems, renderProblems } from '../../../terminal/problem-report.ts';
import { type SettingsFlags, withFetchContext } from './settings-sources.ts';
import { messageLines, writePainted } from '../../../terminal/terminal-output.ts';

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
  const servedIn = servedKinds(options.expectKind);
  const read: SourceContent['objects'][number][] = [];
  const check = async (content: SourceContent, source: SourceSettings): Promise<readonly Problem[]> => {
    for (const object of content.objects) read.push(object);
    const kinds = source.sync === 'observe' ? ['*'] : (source.kinds ?? []);
    const checkMore = (objects: SourceContent['objects']): readonly SourceFinding[] => [
      ...checkKinds(objects, servedIn(objects)),
      ...hubRefusals(objects),
      ...checkAppliedKinds(objects, kinds),
    ];
    return checkContent(content, undefined, checkMore);
  };
  const sources = await withFetchContext(io, options, chosen, async (context) => {
    const checked: ValidatedSource[] = [];
    for (const source of chosen) checked.push(await validateSource(source, context, check));
    return checked;
  });
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

async function validateSource(
  source: SourceSettings,
  context: FetchContext,
  check: (content: SourceContent, source: SourceSettings) => Promise<readonly Problem[]>,
): Promise<ValidatedSource> {
  const { name } = source;
  try {
    return await withFetchedSource(source, context, async (content) => {
      requireManifests([content], `source ${name}`, source.paths ?? []);
      return {
        name,
        commit: content.commit?.id,
        files: content.files,
        objects: content.objects.length,
        problems: await check(content, source),
      };
    });
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const { code, message, hint } = error;
    const problem: Problem = { severity: 'error', code, message, hint };
    return { name, commit: undefined, files: 0, objects: 0, problems: [problem] };
  }
}

function writeSource(io: CliIo, { name, commit, files, objects, problems }: ValidatedSource): void {
  const content = `${formatCount(files, 'file')}, ${formatCount(objects, 'object')}`;
  const at = commit === undefined ? 'not read' : `${commit.slice(0, 8)}, ${content}`;
  io.stdout.write(printableLines([`source ${name}: ${at}: ${countProblems(problems)}`]));
  writePainted(io.stdout, renderProblems(problems, io.colour));
}
