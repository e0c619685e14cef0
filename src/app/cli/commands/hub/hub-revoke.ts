import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { errorText, InputError } from '@berth/runtime/errors';
import { printable } from '@berth/runtime/text/printable';
import type { RunAction } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { wrongOption } from '../../flags/wrong-option.ts';

interface RevokeFlags {
  readonly data: string;
  readonly user?: string;
  readonly tokenFile?: string;
}

const HELP = `
A running hub refuses revoked credentials within 5 s, and closes the watches that use them. The user may get new
credentials at once: berth hub kubeconfig. Restoring a backup makes credentials valid again that were revoked later.

Exit codes: 0 revoked, 1 error, 2 there was no such token (with --user, certificates are refused anyway).

Examples:
  berth hub revoke --data .berth/hub --user alice           # all of alice's tokens and certificates
  berth hub revoke --data .berth/hub --token-file leaked    # this token alone
  berth hub revoke --data .berth/hub --user system:serviceaccount:team-a:deployer
`;

/** `berth hub revoke`: revokes credentials that the hub issued. */
export function revokeCommand(hub: Command, run: RunAction): void {
  hub
    .command('revoke')
    .description('revoke the credentials of a user, or one token; the hub may be running')
    .requiredOption('--data <dir>', 'data directory of the hub')
    .option(
      '--user <name>',
      'remove the user’s tokens, and refuse its client certificates and service account tokens issued until now',
    )
    .option('--token-file <file>', 'remove the token in this file; - reads stdin')
    .addHelpText('after', HELP)
    .action(run((io, flags: RevokeFlags) => revoke(io, flags)));
}

async function revoke(io: CliIo, { data, user, tokenFile }: RevokeFlags): Promise<ExitCode> {
  if ((user === undefined) === (tokenFile === undefined))
    throw wrongOption(
      '--user',
      `got ${user === undefined ? 'neither' : 'both'}, expected either --user or --token-file`,
    );
  const { revokeToken, revokeUser } = await import('@berth/embedded-hub/maintenance/revoke-credentials');
  const dataDir = resolve(io.cwd, data);
  if (user !== undefined) {
    if (user === '') throw wrongOption('--user', 'got an empty name, expected the name of a user');
    const count = revokeUser(dataDir, user, Date.now());
    const name = printable(user);
    io.stdout.write(
      count === 0 ? `${name}: there is no token\n` : `${name}: ${String(count)} token(s) revoked\n`,
    );
    io.stdout.write(`${name}: certificates and service account tokens issued until now are refused\n`);
    return count === 0 ? 2 : 0;
  }
  const found = revokeToken(dataDir, await readToken(io, tokenFile ?? ''));
  io.stdout.write(
    found === undefined
      ? 'the hub did not issue this token; use --user to revoke a service account token\n'
      : `${printable(found)}: 1 token(s) revoked\n`,
  );
  return found === undefined ? 2 : 0;
}

async function readToken(io: CliIo, file: string): Promise<string> {
  let text: string;
  try {
    text = file === '-' ? await textOf(io.stdin) : await readFile(resolve(io.cwd, file), 'utf8');
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, { code: 'cli.token', subject: file, cause });
  }
  const token = text.trim();
  if (/^\S+$/.test(token)) return token;
  throw new InputError('contains no token, expected one word', { code: 'cli.token', subject: file });
}
