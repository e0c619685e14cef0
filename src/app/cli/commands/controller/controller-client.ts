import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import type { CliIo } from '../../../terminal/cli-io.ts';

/** Flags of commands that call a running controller. */
export interface ControllerFlags {
  readonly server: string;
  readonly tokenFile: string;
}

const SERVER_HELP = 'address of the controller (its --listen)';
const TOKEN_HELP = 'the controller’s --token-file; the command sends its first token with the scope api';
export const DEFAULT_SERVER = 'http://127.0.0.1:8080';

export function addControllerFlags(command: Command): Command {
  return command
    .option('--server <url>', SERVER_HELP, DEFAULT_SERVER)
    .requiredOption('--token-file <file>', TOKEN_HELP);
}

/** For a command that can do without the controller. */
export function addOptionalControllerFlags(command: Command, otherwise: string): Command {
  return command
    .option('--server <url>', `${SERVER_HELP} (default: ${DEFAULT_SERVER})`)
    .option('--token-file <file>', `${TOKEN_HELP}; without it ${otherwise}`);
}

/** @throws TransientError when the controller cannot be reached, InputError when it refuses */
export async function callController(
  io: Pick<CliIo, 'stderr'>,
  flags: ControllerFlags,
  method: 'GET' | 'POST',
  path: string,
): Promise<unknown> {
  const url = `${flags.server.replace(/\/$/, '')}/api/v1/${path}`;
  const token = await readToken(flags.tokenFile);
  if (isUnencrypted(flags.server))
    io.stderr.write(`warning: the token is sent unencrypted to ${flags.server}: use https\n`);
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(10_000),
    });
  } catch (cause) {
    throw new TransientError(`no response: ${errorText((cause as Error).cause ?? cause)}`, {
      code: 'cli.server',
      subject: url,
      hint: 'is berth serve running with --listen? name its address with --server',
      cause,
    });
  }
  const body = (await response.json().catch(() => ({}))) as { message?: string };
  if (response.ok) return body;
  throw new InputError(`the controller answered ${response.status}: ${body.message ?? 'no explanation'}`, {
    code: 'cli.server',
    subject: url,
  });
}

function isUnencrypted(server: string): boolean {
  if (!URL.canParse(server)) return false;
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !isLoopbackHost(hostname);
}

/** @throws InputError when the file cannot be read, or contains only hashes */
async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InputError(`cannot be read: ${errorText(cause)}`, { code: 'cli.token', subject: file, cause });
  });
  // The token file of a client may have entries that the controller would reject.
  const [first = ''] = text.split('\n');
  if (/^[^\s{#:]+$/.test(first.trim())) return first.trim();
  const { parseTokenFile } = await import('../../../../../plugin/tokens/token-file.ts');
  const found = parseTokenFile(file, text).find(
    ({ token, grant }) => token !== undefined && grant.scopes.has('api'),
  );
  if (found?.token !== undefined) return found.token;
  throw new InputError('contains no token with the scope api, only hashes or other scopes', {
    code: 'cli.token',
    subject: file,
    hint: 'give a file with the token in its first line',
  });
}
