import { mkdir, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from '@berth/runtime/logger';
import { PRIVATE_DIRECTORY_MODE } from '@berth/runtime/files/private-mode';
import type { ParsedCache } from '../../../../controllers/sources/parsing/parsed-cache.ts';
import { wrongOption } from '../../flags/wrong-option.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';

export function addCacheFlag(command: Command): Command {
  return command.option(
    '--cache <folder>',
    'keep parsed files in this folder, outside of any repository, so that the next plan is faster',
  );
}

/**
 * Opens the cache of parsed files; undefined without a folder. Broken records, and those of another version of Berth,
 * are ignored and written again.
 * @throws InputError for a folder inside a repository, where a commit could add files, or one that other users may write to
 */
export async function openPlanCache(io: CliIo, given: string | undefined): Promise<ParsedCache | undefined> {
  if (given === undefined) return undefined;
  const dir = await privateFolder(resolve(io.cwd, given));
  const { ParsedCache } = await import('../../../../controllers/sources/parsing/parsed-cache.ts');
  return new ParsedCache({ dir, log: warningsOn(io) });
}

const WRITABLE_BY_OTHERS = 0o022;

async function privateFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_DIRECTORY_MODE }).catch((error: unknown) => {
    throw wrongOption(
      '--cache',
      `cannot be created: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const dir = await realpath(folder);
  const { findEnclosingGitDir } = await import('@berth/git-reader/repository/git-dir');
  const repository = await findEnclosingGitDir(dir);
  if (repository !== undefined)
    throw wrongOption(
      '--cache',
      `is inside the repository ${repository.top}, where a commit could put files into it: expected a folder outside`,
    );
  const { mode, uid } = await stat(dir);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 || uid !== (process.getuid?.() ?? uid))
    throw wrongOption(
      '--cache',
      `can be written by other users, expected a folder of your own with mode 0700: ${dir}`,
    );
  return dir;
}

function warningsOn({ stderr }: CliIo): Logger {
  const log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, fields) =>
      void stderr.write(`warning: ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}\n`),
    error: (message, fields) => log.warn(message, fields),
    child: () => log,
  };
  return log;
}
