import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError, errorText } from '@berth/runtime/errors';
import type { Command } from 'commander';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { wrongValue } from '../../flags/option-values.ts';

const ADMIN_TOKEN = 'BERTH_ADMIN_TOKEN';

/** Flags of commands that read or write what only an administrator of a repository may. */
export interface AdminFlags {
  readonly adminTokenFile?: string;
  readonly publicUrl: string;
}

export function addAdminFlags(command: Command): Command {
  return command
    .option(
      '--admin-token-file <file>',
      `file with a token of somebody who administers the repository (default: the environment variable ${ADMIN_TOKEN})`,
    )
    .requiredOption('--public-url <url>', 'address of Berth that the forge and its users reach');
}

/** Undefined without a file and without the variable. @throws InputError if the file cannot be read */
export async function adminToken(io: CliIo, { adminTokenFile }: AdminFlags): Promise<string | undefined> {
  if (adminTokenFile === undefined) return io.env[ADMIN_TOKEN]?.trim() || undefined;
  const text = await readFile(path.resolve(io.cwd, adminTokenFile), 'utf8').catch((cause: unknown) => {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      ...{ code: 'cli.token', subject: adminTokenFile, cause },
    });
  });
  return text.trim();
}

/** @throws InputError without a token */
export async function neededAdminToken(io: CliIo, flags: AdminFlags): Promise<string> {
  const token = await adminToken(io, flags);
  if (token !== undefined && token !== '') return token;
  throw new InputError(`is needed, from a file or from ${ADMIN_TOKEN}`, {
    ...{ code: 'cli.option', subject: '--admin-token-file' },
    hint: 'the token of an account that administers the repository; it is not stored',
  });
}

/** Without a slash at the end. */
export function publicUrlOf({ publicUrl }: AdminFlags): string {
  if (/^https?:$/.test(URL.canParse(publicUrl) ? new URL(publicUrl).protocol : ''))
    return publicUrl.replace(/\/+$/, '');
  throw wrongValue('--public-url', publicUrl, 'a URL such as https://berth.example.com');
}
