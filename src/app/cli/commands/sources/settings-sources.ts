import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { FetchContext } from '../../../settings/fetch-source.ts';
import type { SourceSettings } from '../../../settings/source-settings.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { wrongOption } from '../../flags/option-values.ts';

/** Flags of commands that read the sources of a settings file without serving them. */
export interface SettingsFlags extends HubFlags {
  readonly config?: string;
  readonly source: readonly string[];
  readonly path: readonly string[];
  readonly data?: string;
}

/**
 * @param knowsHub the command reads a hub, on which controllers may have announced sources
 * @throws InputError for conflicting flags
 */
export function checkSettingsFlags({ config, source, path }: SettingsFlags, knowsHub = false): void {
  if (config !== undefined && path.length > 0)
    throw wrongOption(
      '--path',
      'cannot be used with --config, expected one of them: in the settings file each source has its paths',
    );
  if (config === undefined && source.length > 0 && !knowsHub)
    throw wrongOption('--source', 'needs --config, the settings file with the source, or for a plan a hub');
}

export function addSettingsFlags(command: Command): Command {
  return command
    .option('--config <file>', 'settings file of berth serve: paths, budgets and the other sources')
    .option('--source <name>', 'source of the settings file; may be repeated', collectValues, [])
    .option('--data <dir>', 'directory in which fetched sources are kept for the next time (default: none)');
}

/** Collects the values of a repeatable option. */
export function collectValues(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/**
 * Provides what fetching needs during `use`: a folder, and a hub client if credentials are in
 * Secrets.
 */
export async function withFetchContext<T>(
  io: CliIo,
  flags: SettingsFlags,
  sources: readonly SourceSettings[],
  use: (context: FetchContext) => Promise<T>,
): Promise<T> {
  const { secretsOf } = await import('../../../settings/read-settings.ts');
  const dataDir =
    flags.data === undefined ? await mkdtemp(join(tmpdir(), 'berth-sources-')) : resolve(io.cwd, flags.data);
  const run = (api: KubeApi | undefined): Promise<T> =>
    use({ api, dataDir, nowMs: () => Date.now(), ambient: io.env, signal: io.signal });
  // Secrets for commit statuses are not needed, because nothing is reported.
  const needsHub = secretsOf(sources.map((source) => ({ ...source, commitStatus: undefined }))).length > 0;
  try {
    return await (needsHub ? withHub(io, flags, run) : run(undefined));
  } finally {
    if (flags.data === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}
