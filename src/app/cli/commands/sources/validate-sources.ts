import { resolve } from 'node:path';
import { BerthError } from '../../../../core/errors.ts';
import { printableLines } from '../../../../core/model/printable.ts';
import type { Problem } from '../../../../core/model/problem.ts';
import { checkKinds } from '../../../../core/sources/check-kinds.ts';
import { checkFleet } from '../../../../controllers/sources/manifests/check-fleet.ts';
import type { Fleet } from '../../../../controllers/sources/manifests/fleet.ts';
import { requireManifests } from '../../../../controllers/sources/manifests/require-manifests.ts';
import { chooseSources } from '../../../settings/choose-sources.ts';
import { type FetchContext, withFetchedFleet } from '../../../settings/fetch-fleet.ts';
import { readSettings } from '../../../settings/read-settings.ts';
import type { SourceSettings } from '../../../settings/source-settings.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { servedKinds } from './expected-kinds.ts';
import { type OutputFormat, renderDocument } from '../../../terminal/output-format.ts';
import { countProblems, renderProblems } from '../../../terminal/problem-report.ts';
import { type SettingsFlags, withFetchContext } from './settings-sources.ts';
import { writePainted } from '../../../terminal/terminal-output.ts';

interface ValidatedSource {
  readonly name: string;
  /** Undefined when the source could not be read. */
  readonly commit: string | undefined;
  readonly files: number;
  readonly objects: number;
  readonly problems: readonly Problem[];
}

/** Fetches the sources of a settings file and checks each as the controller would; one that fails stops no other. */
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
  const chosen = chooseSources(settings, options.source, 'all');
  const servedIn = servedKinds(options.expectKind);
  const check = (fleet: Fleet): Promise<readonly Problem[]> =>
    checkFleet(fleet, undefined, (objects) => checkKinds(objects, servedIn(objects)));
  const sources = await withFetchContext(io, options, chosen, async (context) => {
    const checked: ValidatedSource[] = [];
    for (const source of chosen) checked.push(await validateSource(source, context, check));
    return checked;
  });
  const failed = sources.some(({ problems }) =>
    problems.some(({ severity }) => severity === 'error' || options.strict),
  );
  if (options.output === 'table') for (const source of sources) writeSource(io, source);
  else io.stdout.write(await renderDocument({ valid: !failed, sources }, options.output));
  return failed ? 1 : 0;
}

async function validateSource(
  source: SourceSettings,
  context: FetchContext,
  check: (fleet: Fleet) => Promise<readonly Problem[]>,
): Promise<ValidatedSource> {
  const { name } = source;
  try {
    return await withFetchedFleet(source, context, async (fleet) => {
      requireManifests([fleet], `source ${name}`, source.paths ?? []);
      return {
        name,
        commit: fleet.commit?.id,
        files: fleet.files,
        objects: fleet.objects.length,
        problems: await check(fleet),
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
  const at = commit === undefined ? 'not read' : `${commit.slice(0, 8)}, ${files} files, ${objects} objects`;
  io.stdout.write(printableLines([`source ${name}: ${at}: ${countProblems(problems)}`]));
  writePainted(io.stdout, renderProblems(problems, io.colour));
}
